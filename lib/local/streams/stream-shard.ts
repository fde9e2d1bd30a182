import { DynamoDBStreamsServiceException } from "@aws-sdk/client-dynamodb-streams";
import type { DynamoDBRecord } from "aws-lambda";
import { errorMessage } from "../../errors.ts";
import type { EventSource } from "../template/event-source.ts";
import type { BatchQueue } from "./batch-queue.ts";
import { delay } from "./delay.ts";
import { maxRecords, type StreamClient } from "./stream-client.ts";

/**
 * The delay after a read that reached the end of the shard, in milliseconds: Lambda reads four times a second.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html
 */
const readDelay = 250;

/** The delay between two checks of what is still being delivered, in milliseconds. */
const deliveryDelay = 200;

/** The delay after a failed read, in milliseconds. */
const failureDelay = 1000;

/** Reading stops while more batches than this wait for their delivery. */
const maxWaitingBatches = 20;

interface ShardOptions {
  readonly client: StreamClient;
  /** The stream's ARN in the engine. */
  readonly streamArn: string;
  readonly shard: string;
  readonly source: EventSource;
  readonly queues: readonly BatchQueue[];
  /** The sequence number up to which an earlier run has delivered all records. */
  readonly position: string | undefined;
  /** Saves the sequence number up to which all records have been delivered now. */
  readonly savePosition: (sequenceNumber: string) => void;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

/** Reads a shard from its position on and queues its records; resolves when the shard has ended. */
export async function readShard(options: ShardOptions): Promise<void> {
  const { client, source, queues, savePosition, signal, log } = options;
  const pending = new PendingRecords(savePosition);
  const waitForDelivery = async (maxPending: number) => {
    while (pending.size > maxPending && !signal.aborted) await delay(deliveryDelay, signal);
  };
  let last = options.position;
  let failing = false;
  let iterator: string | undefined;
  while (!signal.aborted) {
    try {
      iterator ??= await createIterator(options, last);
      if (iterator === undefined) return await waitForDelivery(0);
      const { records, next } = await client.records(iterator);
      for (const record of records) {
        const done = pending.add(record.dynamodb?.SequenceNumber ?? "");
        if (source.accepts(record)) queues[queueIndex(record, queues.length)]?.push({ record, done });
        else done();
      }
      last = records.at(-1)?.dynamodb?.SequenceNumber ?? last;
      // The embedded engine describes its shard as ended, but keeps returning iterators.
      if (next === undefined) return await waitForDelivery(0);
      iterator = next;
      failing = false;
      if (records.length < maxRecords) await delay(readDelay, signal);
      await waitForDelivery(maxWaitingBatches * source.batchSize);
    } catch (error) {
      if (!failing && !signal.aborted)
        log(`The table's stream cannot be read and is retried: ${errorMessage(error)}.`);
      failing = true;
      iterator = undefined;
      await delay(failureDelay, signal);
    }
  }
}

/** The records of a shard that were read but lie after its position: they are delivered concurrently. */
class PendingRecords {
  readonly #records: { readonly sequenceNumber: string; delivered: boolean }[] = [];
  readonly #savePosition: ShardOptions["savePosition"];

  constructor(savePosition: ShardOptions["savePosition"]) {
    this.#savePosition = savePosition;
  }

  get size(): number {
    return this.#records.length;
  }

  /** Adds the next record. @returns the function to call when it has been delivered */
  add(sequenceNumber: string): () => void {
    const record = { sequenceNumber, delivered: false };
    this.#records.push(record);
    return () => {
      record.delivered = true;
      const next = this.#records.findIndex(({ delivered }) => !delivered);
      const last = this.#records.splice(0, next < 0 ? this.#records.length : next).at(-1);
      if (last) this.#savePosition(last.sequenceNumber);
    };
  }
}

/** All records of an item go to the same queue, so that they stay in order. */
function queueIndex({ dynamodb }: DynamoDBRecord, queues: number): number {
  const values = Object.entries(dynamodb?.Keys ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  let hash = 0;
  for (const char of JSON.stringify(values)) hash = (hash * 31 + char.charCodeAt(0)) >>> 0;
  return hash % queues;
}

/**
 * Creates an iterator after a record, or at the oldest record when the engine does not have that record.
 *
 * @returns undefined when the record is the last one of a shard that has ended
 */
async function createIterator({ client, streamArn, shard }: ShardOptions, last: string | undefined) {
  if (last !== undefined) {
    try {
      const { records, next } = await client.records(await client.iterator(streamArn, shard, last), 1);
      if (records[0]?.dynamodb?.SequenceNumber === last) return next;
    } catch (error) {
      if (!(error instanceof DynamoDBStreamsServiceException)) throw error;
    }
  }
  return client.iterator(streamArn, shard);
}
