import { setTimeout } from "node:timers/promises";
import { type DynamoDBStreams, TrimmedDataAccessException } from "@aws-sdk/client-dynamodb-streams";
import type { DynamoDBBatchResponse, DynamoDBRecord } from "aws-lambda";
import { cut } from "../../../shared/cut.ts";
import { toLambdaRecord } from "../../stream-record.ts";
import { errorMessage } from "../../user-error.ts";
import type { EventSource } from "../template/event-source.ts";
import type { Invoke } from "../template/functions.ts";
import { retryDelay } from "./retry-delay.ts";
import type { StoredMap } from "./stored-map.ts";

interface StreamOptions {
  readonly client: Pick<DynamoDBStreams, "describeStream" | "getShardIterator" | "getRecords">;
  /** The stream's ARN in the engine: a recreated table has another one. */
  readonly streamArn: string;
  /** How far each event source has read each shard: the sequence number of the last record. */
  readonly positions: StoredMap<string>;
  readonly invoke: Invoke;
  readonly log: (line: string) => void;
  /** Stops without waiting for the batch that is being delivered: the next run redelivers it. */
  readonly signal: AbortSignal;
  /** Waits for a number of milliseconds, or until the signal is aborted. Tests can shorten the wait. */
  readonly wait?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** The largest number of records that GetRecords returns. */
const maxRecords = 1000;

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

/** Feeds a function from a stream, as a Lambda event source mapping does. */
export function startStream(source: EventSource, options: StreamOptions): void {
  const { client, streamArn: StreamArn, positions, log, invoke, signal } = options;
  const wait = (milliseconds: number) => (options.wait ?? delay)(milliseconds, signal);
  void deliverShards();

  /** Delivers every shard of the stream, each one after its parent. */
  async function deliverShards(): Promise<void> {
    const ends = new Map<string, Promise<void>>();
    while (!signal.aborted) {
      try {
        const { StreamDescription } = await client.describeStream({ StreamArn });
        // The list has each shard after its parent.
        for (const { ShardId = "", ParentShardId = "" } of StreamDescription?.Shards ?? []) {
          if (ends.has(ShardId)) continue;
          const parentEnd = ends.get(ParentShardId) ?? Promise.resolve();
          ends.set(
            ShardId,
            parentEnd.then(() => deliverShard(ShardId)),
          );
        }
      } catch (error) {
        if (!signal.aborted) log(`The table's stream cannot be read: ${errorMessage(error)}.`);
      }
      await wait(shardsDelay);
    }
  }

  /** @param SequenceNumber that of a record; without it, the iterator starts at the oldest record */
  async function findIterator(ShardId: string, SequenceNumber?: string): Promise<string> {
    const ShardIteratorType = SequenceNumber === undefined ? "TRIM_HORIZON" : "AFTER_SEQUENCE_NUMBER";
    try {
      const input = { StreamArn, ShardId, ShardIteratorType, SequenceNumber } as const;
      return String((await client.getShardIterator(input)).ShardIterator);
    } catch (error) {
      if (error instanceof TrimmedDataAccessException) return findIterator(ShardId);
      throw error;
    }
  }

  /** Delivers the records of a shard from its position on, batch by batch. Resolves when the shard has ended. */
  async function deliverShard(shard: string): Promise<void> {
    const position = `${source.id} ${StreamArn} ${shard}`;
    let iterator: string | undefined;
    while (!signal.aborted) {
      try {
        iterator ??= await findIterator(shard, positions.get(position));
        const input = { ShardIterator: iterator, Limit: maxRecords };
        const { Records = [], NextShardIterator } = await client.getRecords(input);
        await deliverRecords(Records.map(toLambdaRecord), position);
        // The embedded engine describes its shard as ended, but keeps returning iterators.
        if (NextShardIterator === undefined) return;
        iterator = NextShardIterator;
        // Records that are written during this wait become one batch.
        if (Records.length < maxRecords) await wait(Math.max(readDelay, source.window));
      } catch (error) {
        if (!signal.aborted) log(`The table's stream cannot be read and is retried: ${errorMessage(error)}.`);
        iterator = undefined;
        await wait(failureDelay);
      }
    }
  }

  async function deliverRecords(records: readonly DynamoDBRecord[], position: string): Promise<void> {
    for (const batch of cut(records, source.batchSize)) {
      await deliverBatch(batch.filter(source.accepts));
      if (signal.aborted) return;
      positions.set([position, String(batch.at(-1)?.dynamodb?.SequenceNumber)]);
    }
  }

  /**
   * Delivers a batch until no record fails. Each retry begins with the first failed record. AWS would also halve a batch for
   * which the function threw, and give up records that are too old.
   *
   * @see https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html
   */
  async function deliverBatch(batch: readonly DynamoDBRecord[]): Promise<void> {
    let rest = batch;
    for (let failures = 0; rest.length > 0 && !signal.aborted; failures++) {
      const records = rest;
      // The function pool has logged why a function threw.
      rest = await invoke(source.function, JSON.stringify({ Records: records })).then(
        (response) => sliceFromFailure(records, response),
        () => records,
      );
      if (rest.length > 0 && !signal.aborted) await wait(retryDelay(failures));
    }
  }
}

/** The records from the first reported failure on; all records when the function reports an unknown one. */
function sliceFromFailure(batch: readonly DynamoDBRecord[], response: unknown): readonly DynamoDBRecord[] {
  const { batchItemFailures = [] } = Object(response) as Partial<DynamoDBBatchResponse>;
  if (batchItemFailures.length === 0) return [];
  const indexes = batchItemFailures.map(({ itemIdentifier }) =>
    batch.findIndex(({ dynamodb }) => dynamodb?.SequenceNumber === itemIdentifier),
  );
  return batch.slice(Math.max(0, Math.min(...indexes)));
}

async function delay(milliseconds: number, signal: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, { signal }).catch(() => {});
}
