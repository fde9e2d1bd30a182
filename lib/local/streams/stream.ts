import type { DynamoDBRecord } from "aws-lambda";
import { errorMessage } from "../../errors.ts";
import type { EventSource } from "../template/event-source.ts";
import { localRegion } from "../template/intrinsics.ts";
import { type Delivery, deliverBatch } from "./batch-delivery.ts";
import { BatchQueue } from "./batch-queue.ts";
import { delay } from "./delay.ts";
import type { StreamClient } from "./stream-client.ts";
import type { StreamPositions } from "./stream-positions.ts";
import { readShard } from "./stream-shard.ts";

interface StreamOptions {
  readonly client: StreamClient;
  /** The stream's ARN in the engine. */
  readonly streamArn: string;
  readonly positions: StreamPositions;
  /** Delivers a batch to the target of the source. @returns the function's response */
  readonly deliver: (records: readonly DynamoDBRecord[]) => Promise<unknown>;
  readonly log: (line: string) => void;
}

/** The options of a stream that is being delivered since a time, in milliseconds since the epoch. */
type RunningOptions = StreamOptions & Pick<Delivery, "startedAt">;

/** The delay between two checks for new shards, in milliseconds. */
const shardsDelay = 3000;

/** Feeds a function from a stream, as a Lambda event source mapping or an EventBridge pipe does. */
export function startStream(source: EventSource, options: StreamOptions) {
  const controller = new AbortController();
  const delivery = deliverShards(source, { ...options, startedAt: Date.now() }, controller.signal);
  return {
    /** Stops reading without waiting for batches that are being delivered: the next run delivers them again. */
    async stop() {
      controller.abort();
      await delivery;
      await options.positions.saved();
    },
  };
}

/** Delivers every shard of the stream, each one after its parent. */
async function deliverShards(
  source: EventSource,
  options: RunningOptions,
  signal: AbortSignal,
): Promise<void> {
  const { client, streamArn, log } = options;
  const ended = new Set<string>();
  const deliveries = new Map<string, Promise<void>>();
  while (!signal.aborted) {
    try {
      const shards = await client.shards(streamArn);
      const exists = (id: string) => shards.some((shard) => shard.id === id);
      const ready = shards.filter(({ parent }) => !parent || ended.has(parent) || !exists(parent));
      for (const { id } of ready) {
        if (deliveries.has(id)) continue;
        const delivery = deliverShard(id, source, options, signal);
        deliveries.set(
          id,
          delivery.then(() => void ended.add(id)),
        );
      }
    } catch (error) {
      if (!signal.aborted) log(`The table's stream cannot be read: ${errorMessage(error)}.`);
    }
    await delay(shardsDelay, signal);
  }
  await Promise.all(deliveries.values());
}

function deliverShard(
  shard: string,
  source: EventSource,
  { positions, deliver, startedAt, ...options }: RunningOptions,
  signal: AbortSignal,
): Promise<void> {
  const { streamArn, log } = options;
  const delivery: Delivery = {
    source,
    startedAt,
    now: Date.now,
    invoke: (records) => deliver(addSource(records, source)),
    onDiscarded: (records, attempts) => log(describeDiscarded(records, attempts, source)),
    delay: (milliseconds) => delay(milliseconds, signal),
    signal,
  };
  const queues = Array.from(
    { length: source.parallelization },
    () => new BatchQueue({ source, deliver: (records) => deliverBatch(records, delivery), signal }),
  );
  const position = positions.get(source.id, streamArn, shard);
  const savePosition = (last: string) => positions.set(source.id, streamArn, shard, last);
  return readShard({ ...options, shard, source, queues, position, savePosition, signal });
}

/** Adds what AWS sets in a record and an engine does not. */
const addSource = (records: readonly DynamoDBRecord[], { streamArn }: EventSource): DynamoDBRecord[] =>
  records.map((record) => ({ ...record, awsRegion: localRegion, eventSourceARN: streamArn }));

function describeDiscarded(
  records: readonly DynamoDBRecord[],
  attempts: number,
  { function: { label }, failureQueue }: EventSource,
): string {
  const [first, last] = [records[0], records.at(-1)].map((record) => record?.dynamodb?.SequenceNumber);
  const queue = failureQueue === undefined ? "" : `; on AWS they go to the queue ${failureQueue}`;
  return `[${label}] Discarded ${records.length} records of the stream, from ${first} to ${last}, after ${attempts} attempts${queue}.`;
}
