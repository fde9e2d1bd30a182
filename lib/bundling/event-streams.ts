/**
 * The serialization of event streams. Replaces that of the SDK, which also loads zlib.
 *
 * Safe: the SDK constructs it for an operation with an event stream, which neither DynamoDB nor the Parameter Store has.
 */
export class EventStreamSerde {
  constructor() {
    throw new Error("Bundles have no event streams: see lib/bundling/event-streams.ts.");
  }
}

/** The SDK passes it to the constructor. */
export const eventStreamSerdeProvider = undefined;
