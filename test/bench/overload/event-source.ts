import { marshall } from "@aws-sdk/util-dynamodb";
import type { DynamoDBRecord } from "aws-lambda";
import { deliverBatch } from "../../../lib/local/streams/batch-delivery.ts";
import { readListPartition } from "../../../shared/dynamodb/keys.ts";
import type { Change } from "../../support/memory-table.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** A record of the stream that waits for its delivery. */
interface Waiting {
  readonly change: Change;
  readonly account: string;
  /** When the change was made, in milliseconds since the epoch. */
  readonly at: number;
  readonly bytes: number;
}

/** The event source of `lib/constructs/counting.ts`. */
const source = {
  retries: Number.POSITIVE_INFINITY,
  maxAge: 12 * 3_600_000,
  bisects: true,
  reportsFailures: true,
};
const batchSize = 10_000;
const window = 1000;

/** The most bytes of an invocation's event. @see https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html */
const largestEvent = 6 * 1024 * 1024;

/** What a record has besides its images, in bytes of JSON. */
const recordBytes = 450;

/**
 * Delivers the changes of lists to the maintainer as Lambda does from a shard: in order, one batch at a time, gathered
 * for a second, with the retries of the project's own event source.
 */
export class EventSource {
  /** How many records were sent to the failure queue. */
  discarded = 0;
  readonly #clock: VirtualClock;
  readonly #invoke: (event: object) => Promise<unknown>;
  readonly #waiting: Waiting[] = [];
  #enabled: boolean;
  #running = false;

  constructor(clock: VirtualClock, invoke: (event: object) => Promise<unknown>, enabled: boolean) {
    this.#clock = clock;
    this.#invoke = invoke;
    this.#enabled = enabled;
  }

  /** Receives a change of the table. */
  receive = (change: Change): void => {
    const list = readListPartition(change.key.pk);
    if (!list) return;
    const bytes = recordBytes + JSON.stringify(toRecord(change, this.#clock.now)).length;
    this.#waiting.push({ change, account: list.account, at: this.#clock.now, bytes });
    if (this.#enabled && !this.#running) void this.#run();
  };

  /** Starts to deliver, if it was created disabled. */
  enable(): void {
    this.#enabled = true;
    if (!this.#running && this.#waiting.length > 0) void this.#run();
  }

  /** The age of an account's oldest change that has not been delivered, in milliseconds. */
  age(account: string): number {
    const oldest = this.#waiting.find((waiting) => waiting.account === account);
    return oldest ? this.#clock.now - oldest.at : 0;
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0) {
      if (this.#batch().length === this.#waiting.length) await this.#clock.wait(window);
      await deliverBatch(
        this.#batch().map(({ change, at }) => toRecord(change, at)),
        {
          source,
          startedAt: 0,
          now: () => this.#clock.now,
          invoke: (records) => this.#deliver(records),
          onDiscarded: (records) => {
            this.discarded += records.length;
            this.#remove(records);
          },
          delay: (milliseconds) => this.#clock.wait(milliseconds),
          signal: new AbortController().signal,
        },
      );
    }
    this.#running = false;
  }

  #batch(): readonly Waiting[] {
    let bytes = 0;
    const end = this.#waiting.findIndex((waiting) => {
      bytes += waiting.bytes;
      return bytes > largestEvent;
    });
    return this.#waiting.slice(0, Math.min(batchSize, end < 0 ? batchSize : Math.max(1, end)));
  }

  async #deliver(records: readonly DynamoDBRecord[]): Promise<unknown> {
    const response = (await this.#invoke({ Records: records })) as {
      readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
    };
    const failed = new Set(response.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    const first = records.findIndex(({ dynamodb }) => failed.has(String(dynamodb?.SequenceNumber)));
    this.#remove(first < 0 ? records : records.slice(0, first));
    // Lambda goes on from the first failure, whatever else failed.
    const itemIdentifier = records[first]?.dynamodb?.SequenceNumber;
    return { batchItemFailures: itemIdentifier === undefined ? [] : [{ itemIdentifier }] };
  }

  /** Removes the oldest records, which have been delivered or discarded. */
  #remove(records: readonly DynamoDBRecord[]): void {
    const last = Number(records.at(-1)?.dynamodb?.SequenceNumber ?? 0);
    const end = this.#waiting.findIndex(({ change }) => change.sequenceNumber > last);
    this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
  }
}

type Image = NonNullable<DynamoDBRecord["dynamodb"]>["NewImage"];

/** @param at when the change was made, in milliseconds since the epoch */
function toRecord({ sequenceNumber, key, before, after }: Change, at: number): DynamoDBRecord {
  return {
    dynamodb: {
      Keys: toImage(key),
      ...(before && { OldImage: toImage(before) }),
      ...(after && { NewImage: toImage(after) }),
      SequenceNumber: String(sequenceNumber),
      ApproximateCreationDateTime: Math.floor(at / 1000),
    },
  };
}

const toImage = (item: object) => marshall(item) as NonNullable<Image>;
