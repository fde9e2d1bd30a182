import type { DynamoDBRecord } from "aws-lambda";
import { errorMessage } from "../../errors.ts";
import type { EventSource } from "../template/event-source.ts";
import { localRegion } from "../template/intrinsics.ts";
import { deliverBatch } from "./batch-delivery.ts";
import { StreamLane } from "./batch-queue.ts";
import { Checkpoint } from "./checkpoint.ts";
import { pause } from "./delay.ts";
import type { StreamClient } from "./stream-client.ts";
import type { StreamPositions } from "./stream-positions.ts";
import { readShard } from "./stream-shard.ts";

/** What a stream is fed to its function with. */
export interface StreamOptions {
  readonly client: StreamClient;
  /** The stream as the engine names it. */
  readonly streamArn: string;
  readonly positions: StreamPositions;
  /** Brings a batch to what the source feeds. @returns what it answered */
  readonly deliver: (records: readonly DynamoDBRecord[]) => Promise<unknown>;
  readonly log: (line: string) => void;
}

/** A stream that is being delivered. */
export interface Stream {
  /** Reads no more, and waits for no batch that is being delivered: it comes again in the next run. */
  stop(): Promise<void>;
}

/** Milliseconds between two looks for new shards. */
const shardsInterval = 3000;

/** Feeds a function from a stream as Lambda's event source mapping does, or EventBridge's pipe. */
export function startStream(source: EventSource, options: StreamOptions): Stream {
  const controller = new AbortController();
  const { signal } = controller;
  const watching = watchShards(source, options, signal);
  return {
    async stop() {
      controller.abort();
      await watching;
      await options.positions.saved();
    },
  };
}

/** Reads every shard of the stream, each after the one that it follows. */
async function watchShards(source: EventSource, options: StreamOptions, signal: AbortSignal): Promise<void> {
  const { client, streamArn, log } = options;
  const ended = new Set<string>();
  const reading = new Map<string, Promise<void>>();
  while (!signal.aborted) {
    try {
      const shards = await client.shards(streamArn);
      const isThere = (id: string) => shards.some((shard) => shard.id === id);
      const ready = shards.filter(({ parent }) => !parent || ended.has(parent) || !isThere(parent));
      for (const { id } of ready) {
        if (reading.has(id)) continue;
        reading.set(
          id,
          deliverShard(id, source, options, signal).then(() => void ended.add(id)),
        );
      }
    } catch (error) {
      if (!signal.aborted) log(`The table's stream cannot be read: ${errorMessage(error)}.`);
    }
    await pause(shardsInterval, signal);
  }
  await Promise.all(reading.values());
}

function deliverShard(
  shard: string,
  source: EventSource,
  { client, streamArn, positions, deliver, log }: StreamOptions,
  signal: AbortSignal,
): Promise<void> {
  const delivery = {
    source,
    invoke: (records: readonly DynamoDBRecord[]) => deliver(asOnAws(records, source)),
    giveUp: (records: readonly DynamoDBRecord[], attempts: number) =>
      log(describeFailure(records, attempts, source)),
    pause: (milliseconds: number) => pause(milliseconds, signal),
    signal,
  };
  const deliverAll = (records: readonly DynamoDBRecord[]) => deliverBatch(records, delivery);
  const lanes = Array.from(
    { length: source.lanes },
    () => new StreamLane({ source, deliver: deliverAll, signal }),
  );
  const checkpoint = new Checkpoint(positions.get(source.id, streamArn, shard));
  const onPosition = () => {
    if (checkpoint.position !== undefined) positions.set(source.id, streamArn, shard, checkpoint.position);
  };
  return readShard({ client, streamArn, shard, source, lanes, checkpoint, signal, onPosition, log });
}

/** The records with what the engine does not say of them. */
const asOnAws = (records: readonly DynamoDBRecord[], { streamArn }: EventSource): DynamoDBRecord[] =>
  records.map((record) => ({ ...record, awsRegion: localRegion, eventSourceARN: streamArn }));

function describeFailure(records: readonly DynamoDBRecord[], attempts: number, source: EventSource): string {
  const [first, last] = [records[0], records.at(-1)].map((record) => record?.dynamodb?.SequenceNumber);
  const queue =
    source.failureQueue === undefined ? "" : `; deployed, they go to the queue ${source.failureQueue}`;
  return `[${source.function.label}] Gave up ${records.length} records of the stream, from ${first} to ${last}, after ${attempts} attempts${queue}.`;
}
