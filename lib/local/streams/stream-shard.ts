import type { DynamoDBRecord } from "aws-lambda";
import { errorMessage } from "../../errors.ts";
import type { EventSource } from "../template/event-source.ts";
import type { StreamLane } from "./batch-queue.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { pause } from "./delay.ts";
import { mostRecords, type StreamClient, StreamError } from "./stream-client.ts";

/**
 * Milliseconds between two looks that find all there is: Lambda looks four times a second.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html
 */
const interval = 250;

/** Milliseconds between two looks at what is being delivered. */
const idle = 200;

/** Milliseconds before the engine is asked again after it failed. */
const afterFailure = 1000;

/** How many batches may wait to be delivered before no more are read. */
const waitingBatches = 20;

/** What a shard is read with. */
interface ShardReading {
  readonly client: StreamClient;
  /** As the engine names it. */
  readonly streamArn: string;
  readonly shard: string;
  readonly source: EventSource;
  readonly lanes: readonly StreamLane[];
  readonly checkpoint: Checkpoint;
  readonly signal: AbortSignal;
  /** Called when all records up to the checkpoint's position have been delivered. */
  readonly onPosition: () => void;
  readonly log: (line: string) => void;
}

/** Reads a shard from its checkpoint on, and gives its records to the lanes; comes back when the shard has ended. */
export async function readShard(reading: ShardReading): Promise<void> {
  const { client, source, checkpoint, signal, log } = reading;
  let last = checkpoint.position;
  let failing = false;
  let iterator: string | undefined;
  while (!signal.aborted) {
    try {
      iterator ??= await iteratorAfter(reading, last);
      const { records, next } = await client.records(iterator);
      for (const record of records) take(record, reading);
      last = records.at(-1)?.dynamodb?.SequenceNumber ?? last;
      // The embedded engine says that its shard has ended, but goes on giving iterators.
      if (next === undefined) return await delivered(reading);
      iterator = next;
      failing = false;
      if (records.length < mostRecords) await pause(interval, signal);
      while (checkpoint.open > waitingBatches * source.batchSize && !signal.aborted)
        await pause(idle, signal);
    } catch (error) {
      if (!failing && !signal.aborted)
        log(`The table's stream cannot be read, and is tried again: ${errorMessage(error)}.`);
      failing = true;
      iterator = undefined;
      await pause(afterFailure, signal);
    }
  }
}

function take(record: DynamoDBRecord, { source, lanes, checkpoint, onPosition }: ShardReading): void {
  const delivered = checkpoint.add(record.dynamodb?.SequenceNumber ?? "");
  const done = () => {
    delivered();
    onPosition();
  };
  if (source.accepts(record)) lanes[laneIndex(record, lanes.length)]?.push({ record, done });
  else done();
}

/** All records of an item go the same way, so that they stay in their order. */
function laneIndex({ dynamodb }: DynamoDBRecord, lanes: number): number {
  const values = Object.entries(dynamodb?.Keys ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  let hash = 0;
  for (const char of JSON.stringify(values)) hash = (hash * 31 + char.charCodeAt(0)) >>> 0;
  return hash % lanes;
}

/** An iterator behind a record; one at the oldest record when the engine knows no such record, or none is given. */
async function iteratorAfter({ client, streamArn, shard }: ShardReading, last: string | undefined) {
  if (last !== undefined) {
    try {
      const { records, next } = await client.records(await client.iterator(streamArn, shard, last), 1);
      if (records[0]?.dynamodb?.SequenceNumber === last && next !== undefined) return next;
    } catch (error) {
      if (!(error instanceof StreamError)) throw error;
    }
  }
  return client.iterator(streamArn, shard);
}

async function delivered({ checkpoint, signal }: ShardReading): Promise<void> {
  while (checkpoint.open > 0 && !signal.aborted) await pause(idle, signal);
}
