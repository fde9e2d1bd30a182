import type { DynamoDBRecord } from "aws-lambda";
import type { EventSource } from "../template/event-source.ts";
import { delay } from "./delay.ts";

/** A record that waits for its delivery. */
interface QueuedRecord {
  readonly record: DynamoDBRecord;
  /** Called when the record has been delivered or discarded. */
  readonly done: () => void;
}

interface QueueOptions {
  readonly source: Pick<EventSource, "batchSize" | "window">;
  readonly deliver: (records: readonly DynamoDBRecord[]) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Delivers records in order, one batch at a time; a batch is gathered until it is full or its window ends. */
export class BatchQueue {
  readonly #options: QueueOptions;
  readonly #records: QueuedRecord[] = [];
  #running = false;
  #onFull: (() => void) | undefined;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  push(queued: QueuedRecord): void {
    this.#records.push(queued);
    if (this.#records.length >= this.#options.source.batchSize) this.#onFull?.();
    if (!this.#running) void this.#run();
  }

  async #run(): Promise<void> {
    const { source, deliver, signal } = this.#options;
    this.#running = true;
    while (this.#records.length > 0 && !signal.aborted) {
      await this.#gather();
      if (signal.aborted) break;
      const batch = this.#records.splice(0, source.batchSize);
      await deliver(batch.map(({ record }) => record));
      if (!signal.aborted) for (const { done } of batch) done();
    }
    this.#running = false;
  }

  /** Waits until there is a full batch or the window has passed. */
  async #gather(): Promise<void> {
    const { source, signal } = this.#options;
    if (this.#records.length >= source.batchSize) return;
    const full = new AbortController();
    this.#onFull = () => full.abort();
    await delay(source.window, AbortSignal.any([signal, full.signal]));
    this.#onFull = undefined;
  }
}
