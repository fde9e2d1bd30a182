import type { DynamoDBRecord } from "aws-lambda";
import type { EventSource } from "../template/event-source.ts";
import { pause } from "./delay.ts";

/** A record on its way. */
export interface Queued {
  readonly record: DynamoDBRecord;
  /** Called when it has been delivered, or given up. */
  readonly done: () => void;
}

interface LaneOptions {
  readonly source: Pick<EventSource, "batchSize" | "window">;
  readonly deliver: (records: readonly DynamoDBRecord[]) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Records that are delivered in their order: one batch at a time, gathered until it is full or its window ends. */
export class StreamLane {
  readonly #options: LaneOptions;
  readonly #queue: Queued[] = [];
  #running = false;
  #full: (() => void) | undefined;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  push(queued: Queued): void {
    this.#queue.push(queued);
    if (this.#queue.length >= this.#options.source.batchSize) this.#full?.();
    if (!this.#running) void this.#run();
  }

  async #run(): Promise<void> {
    const { source, deliver, signal } = this.#options;
    this.#running = true;
    while (this.#queue.length > 0 && !signal.aborted) {
      await this.#gathered();
      if (signal.aborted) break;
      const batch = this.#queue.splice(0, source.batchSize);
      await deliver(batch.map(({ record }) => record));
      if (!signal.aborted) for (const { done } of batch) done();
    }
    this.#running = false;
  }

  /** Comes back when there is a whole batch, or the window has passed. */
  async #gathered(): Promise<void> {
    const { source, signal } = this.#options;
    if (this.#queue.length >= source.batchSize) return;
    const full = new AbortController();
    this.#full = () => full.abort();
    await pause(source.window, AbortSignal.any([signal, full.signal]));
    this.#full = undefined;
  }
}
