/** The functions call no operation whose response is a stream of events. */
export class EventStreamSerde {
  constructor() {
    throw new Error("This bundle has no event streams.");
  }
}
