import { setTimeout } from "node:timers/promises";
import { DynamoDBStreamsServiceException } from "@aws-sdk/client-dynamodb-streams";
import type { DynamoDBRecord } from "aws-lambda";
import { errorMessage } from "../../user-error.ts";
import type { EventSource } from "../template/event-source.ts";
import { localRegion } from "../template/intrinsics.ts";
import { type Delivery, deliverBatch } from "./batch-delivery.ts";
import { maxRecords, type StreamClient } from "./stream-client.ts";
import type { StreamPositions } from "./stream-positions.ts";

interface StreamOptions {
  readonly client: StreamClient;
  /** The stream's ARN in the engine. */
  readonly streamArn: string;
  readonly positions: StreamPositions;
  /** Delivers a batch to the target of the source. @returns the function's response */
  readonly deliver: (records: readonly DynamoDBRecord[]) => Promise<unknown>;
  readonly log: (line: string) => void;
  /** Waits for a number of milliseconds, or until the signal is aborted. Tests need not wait as long. */
  readonly wait?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** The delay between two checks for new shards, in milliseconds. */
const shardsDelay = 3000;

/**
 * The shortest delay after a read that reached the end of the shard, in milliseconds: Lambda reads four times a second.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html
 */
const readDelay = 250;

/** The delay after a failed read, in milliseconds. */
const failureDelay = 1000;

/** Feeds a function from a stream, as a Lambda event source mapping or an EventBridge pipe does. */
export function startStream(source: EventSource, options: StreamOptions) {
  const { streamArn, log, deliver } = options;
  const controller = new AbortController();
  const { signal } = controller;
  const wait = (milliseconds: number) => (options.wait ?? delay)(milliseconds, signal);
  const delivery: Delivery = {
    source,
    startedAt: Date.now(),
    now: Date.now,
    // What AWS sets in a record and an engine does not.
    invoke: (records) =>
      deliver(
        records.map((record) => ({ ...record, awsRegion: localRegion, eventSourceARN: source.streamArn })),
      ),
    onDiscarded: (records, attempts) => log(describeDiscarded(records, attempts, source)),
    delay: wait,
    signal,
  };
  void deliverShards();
  /** Stops without waiting for the batch that is being delivered: the next run delivers it again. */
  return { stop: () => controller.abort() };

  /** Delivers every shard of the stream, each one after its parent. */
  async function deliverShards(): Promise<void> {
    const ended = new Set<string>();
    const started = new Set<string>();
    while (!signal.aborted) {
      try {
        const shards = await options.client.shards(streamArn);
        const exists = (id: string) => shards.some((shard) => shard.id === id);
        const ready = shards.filter(({ parent }) => !parent || ended.has(parent) || !exists(parent));
        for (const { id } of ready.filter(({ id }) => !started.has(id))) {
          started.add(id);
          void deliverShard(id, source, options, delivery).then(() => ended.add(id));
        }
      } catch (error) {
        if (!signal.aborted) log(`The table's stream cannot be read: ${errorMessage(error)}.`);
      }
      await wait(shardsDelay);
    }
  }
}

/** Delivers the records of a shard from its position on, one batch after the other; resolves when the shard has ended. */
async function deliverShard(
  shard: string,
  source: EventSource,
  { client, streamArn, positions, log }: StreamOptions,
  delivery: Delivery,
): Promise<void> {
  const { signal } = delivery;
  let last = positions.get(source.id, streamArn, shard);
  const deliverAll = async (records: readonly DynamoDBRecord[]) => {
    for (let from = 0; from < records.length && !signal.aborted; from += source.batchSize) {
      const batch = records.slice(from, from + source.batchSize);
      await deliverBatch(batch.filter(source.accepts), delivery);
      if (signal.aborted) return;
      last = batch.at(-1)?.dynamodb?.SequenceNumber ?? last;
      if (last !== undefined) positions.set(source.id, streamArn, shard, last);
    }
  };
  let failing = false;
  let iterator: string | undefined;
  while (!signal.aborted) {
    try {
      iterator ??= await createIterator(client, streamArn, shard, last);
      if (iterator === undefined) return;
      const { records, next } = await client.records(iterator);
      failing = false;
      await deliverAll(records);
      // The embedded engine describes its shard as ended, but keeps returning iterators.
      if (next === undefined) return;
      iterator = next;
      // Records of the window become one batch.
      if (records.length < maxRecords) await delivery.delay(Math.max(readDelay, source.window));
    } catch (error) {
      if (!failing && !signal.aborted)
        log(`The table's stream cannot be read and is retried: ${errorMessage(error)}.`);
      failing = true;
      iterator = undefined;
      await delivery.delay(failureDelay);
    }
  }
}

/**
 * Creates an iterator after a record, or at the oldest record when the engine does not have that record.
 *
 * @returns undefined when the record is the last one of a shard that has ended
 */
async function createIterator(
  client: StreamClient,
  streamArn: string,
  shard: string,
  last: string | undefined,
): Promise<string | undefined> {
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

async function delay(milliseconds: number, signal: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, { signal }).catch(() => {});
}

function describeDiscarded(
  records: readonly DynamoDBRecord[],
  attempts: number,
  { function: { label }, failureQueue }: EventSource,
): string {
  const [first, last] = [records[0], records.at(-1)].map((record) => record?.dynamodb?.SequenceNumber);
  return `[${label}] Discarded ${records.length} records of the stream, from ${first} to ${last}, after ${attempts} attempts; on AWS they go to the queue ${failureQueue}.`;
}
