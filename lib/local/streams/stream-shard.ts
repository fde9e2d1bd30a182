import { DynamoDBStreamsServiceException } from "@aws-sdk/client-dynamodb-streams";
import type { DynamoDBRecord } from "aws-lambda";
import { errorMessage } from "../../errors.ts";
import type { EventSource } from "../template/event-source.ts";
import type { BatchQueue } from "./batch-queue.ts";
import type { Checkpoint } from "./checkpoint.ts";
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
  readonly checkpoint: Checkpoint;
  readonly signal: AbortSignal;
  /** Called when a record has been delivered, so that the checkpoint may have a new position. */
  readonly onDelivered: () => void;
  readonly log: (line: string) => void;
}

/** Reads a shard from its checkpoint on and queues its records; resolves when the shard has ended. */
export async function readShard(options: ShardOptions): Promise<void> {
  const { client, source, checkpoint, signal, log } = options;
  let last = checkpoint.position;
  let failing = false;
  let iterator: string | undefined;
  while (!signal.aborted) {
    try {
      iterator ??= await createIterator(options, last);
      const { records, next } = await client.records(iterator);
      for (const record of records) enqueue(record, options);
      last = records.at(-1)?.dynamodb?.SequenceNumber ?? last;
      // The embedded engine describes its shard as ended, but keeps returning iterators.
      if (next === undefined) return await waitForDelivery(options, 0);
      iterator = next;
      failing = false;
      if (records.length < maxRecords) await delay(readDelay, signal);
      await waitForDelivery(options, maxWaitingBatches * source.batchSize);
    } catch (error) {
      if (!failing && !signal.aborted)
        log(`The table's stream cannot be read and is retried: ${errorMessage(error)}.`);
      failing = true;
      iterator = undefined;
      await delay(failureDelay, signal);
    }
  }
}

function enqueue(record: DynamoDBRecord, { source, queues, checkpoint, onDelivered }: ShardOptions): void {
  const markDelivered = checkpoint.add(record.dynamodb?.SequenceNumber ?? "");
  const done = () => {
    markDelivered();
    onDelivered();
  };
  if (source.accepts(record)) queues[queueIndex(record, queues.length)]?.push({ record, done });
  else done();
}

/** All records of an item go to the same queue, so that they stay in order. */
function queueIndex({ dynamodb }: DynamoDBRecord, queues: number): number {
  const values = Object.entries(dynamodb?.Keys ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  let hash = 0;
  for (const char of JSON.stringify(values)) hash = (hash * 31 + char.charCodeAt(0)) >>> 0;
  return hash % queues;
}

/** Creates an iterator after a record, or at the oldest record when the engine does not have that record. */
async function createIterator({ client, streamArn, shard }: ShardOptions, last: string | undefined) {
  if (last !== undefined) {
    try {
      const { records, next } = await client.records(await client.iterator(streamArn, shard, last), 1);
      if (records[0]?.dynamodb?.SequenceNumber === last && next !== undefined) return next;
    } catch (error) {
      if (!(error instanceof DynamoDBStreamsServiceException)) throw error;
    }
  }
  return client.iterator(streamArn, shard);
}

async function waitForDelivery({ checkpoint, signal }: ShardOptions, maxPending: number): Promise<void> {
  while (checkpoint.pending > maxPending && !signal.aborted) await delay(deliveryDelay, signal);
}
