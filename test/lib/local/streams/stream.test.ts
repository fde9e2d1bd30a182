import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type DynamoDBStreams, TrimmedDataAccessException } from "@aws-sdk/client-dynamodb-streams";
import type { DynamoDBRecord, DynamoDBStreamEvent } from "aws-lambda";
import { expect, onTestFinished, test } from "vitest";
import { openStoredMap } from "../../../../lib/local/streams/stored-map.ts";
import { startStream } from "../../../../lib/local/streams/stream.ts";
import type { EventSource } from "../../../../lib/local/template/event-source.ts";
import { temporaryDirectory } from "../../../support/stack/temporary-directory.ts";
import { createFunction } from "../support/stack.ts";

/** Creates a record of the table's stream; its sequence number is not padded, as in the embedded engine. */
const createRecord = (sequenceNumber: number) => ({
  eventID: String(sequenceNumber),
  dynamodb: {
    SequenceNumber: String(sequenceNumber),
    ApproximateCreationDateTime: new Date("2026-01-01T00:00:00.900Z"),
  },
});

const sequenceNumbers = (records: readonly DynamoDBRecord[]) =>
  records.map(({ dynamodb }) => Number(dynamodb?.SequenceNumber));

const streamArn = "arn:engine:stream/1";
const position = `Source ${streamArn} shard-1`;

/** A stream in memory, one shard after the other; an iterator is `<shard>:<index>`. */
class FakeStream {
  readonly shardRecords: Record<string, ReturnType<typeof createRecord>[]> = { "shard-1": [] };
  readonly ended = new Set<string>();
  reads = 0;
  failing = false;

  add(...numbers: number[]): void {
    this.shardRecords["shard-1"]?.push(...numbers.map(createRecord));
  }

  async describeStream() {
    const Shards = Object.keys(this.shardRecords).map((ShardId, i, all) => ({
      ShardId,
      ParentShardId: all[i - 1],
    }));
    return { StreamDescription: { Shards } };
  }

  async getShardIterator({ ShardId = "", SequenceNumber }: Partial<Record<string, string>>) {
    const records = this.shardRecords[ShardId] ?? [];
    const last = records.findIndex(({ dynamodb }) => dynamodb.SequenceNumber === SequenceNumber);
    if (SequenceNumber && last < 0) throw new TrimmedDataAccessException({ message: "", $metadata: {} });
    return { ShardIterator: `${ShardId}:${last + 1}` };
  }

  async getRecords({ ShardIterator = "" }: { ShardIterator?: string }) {
    this.reads += 1;
    if (this.failing) throw new Error("connection refused");
    const [shard = "", index = "0"] = ShardIterator.split(":");
    const records = this.shardRecords[shard] ?? [];
    const NextShardIterator = this.ended.has(shard) ? undefined : `${shard}:${records.length}`;
    return { Records: records.slice(Number(index)), NextShardIterator };
  }
}

interface Settings extends Partial<EventSource> {
  readonly streamArn?: string;
  readonly respond?: (numbers: number[]) => unknown;
}

/** Opens a stream with records, and a file for positions in it. Each `start` starts a run that reads the stream. */
async function openStream(...numbers: number[]) {
  const client = new FakeStream();
  client.add(...numbers);
  const file = join(await temporaryDirectory(), "stream.json");
  async function start({ respond = () => null, ...settings }: Settings = {}) {
    const source: EventSource = {
      ...{ id: "Source", function: await createFunction("") },
      ...{ accepts: () => true, batchSize: 3, window: 20, ...settings },
    };
    const delivered: (readonly DynamoDBRecord[])[] = [];
    const log: string[] = [];
    /** The lengths of the waits, in milliseconds. */
    const waits: number[] = [];
    const stopping = new AbortController();
    startStream(source, {
      client: client as object as DynamoDBStreams,
      streamArn: settings.streamArn ?? streamArn,
      positions: openStoredMap(file),
      invoke: async (_, payload) => {
        const { Records: records } = JSON.parse(payload) as DynamoDBStreamEvent;
        delivered.push(records);
        return respond(sequenceNumbers(records));
      },
      log: (line) => log.push(line),
      signal: stopping.signal,
      // A hundredth of the time passes.
      wait: async (milliseconds, signal) => {
        waits.push(milliseconds);
        await setTimeout(milliseconds / 100, undefined, { signal }).catch(() => {});
      },
    });
    const stop = () => stopping.abort();
    onTestFinished(stop);
    return { stop, delivered, log, waits, batches: () => delivered.map(sequenceNumbers) };
  }
  return { client, file, start };
}

test("records are delivered in Lambda's form, in batches of at most the batch size", async () => {
  const { start } = await openStream(8, 9, 10, 11);
  const { batches, delivered, log } = await start();
  await expect.poll(batches).toEqual([[8, 9, 10], [11]]);
  const { dynamodb, ...record } = createRecord(8);
  const inSeconds = { ApproximateCreationDateTime: 1_767_225_600 };
  expect(delivered[0]?.[0]).toEqual({ ...record, dynamodb: { ...dynamodb, ...inSeconds } });
  expect(log).toEqual([]);
});

test("records that do not pass the filter are never delivered, and not read again", async () => {
  const { file, start } = await openStream(1, 2, 3);
  const { batches, stop } = await start({ accepts: (record) => Object(record).eventID === "2" });
  await expect.poll(batches).toEqual([[2]]);
  stop();
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ [position]: "3" });
});

test("a run continues where the last run stopped, and starts another table at its oldest record", async () => {
  const { client, file, start } = await openStream(1, 2);
  const first = await start();
  await expect.poll(first.batches).toEqual([[1, 2]]);
  first.stop();
  client.add(3);
  const second = await start();
  await expect.poll(second.batches).toEqual([[3]]);
  second.stop();

  const otherTable = await start({ streamArn: "arn:engine:stream/2" });
  await expect.poll(otherTable.batches).toEqual([[1, 2, 3]]);
  otherTable.stop();
  await writeFile(file, "{");
  const invalid = await start();
  await expect.poll(invalid.batches).toEqual([[1, 2, 3]]);
});

test("a run continues at the oldest record if the engine has deleted the last delivered one", async () => {
  const { file, start } = await openStream(7, 8);
  await writeFile(file, JSON.stringify({ [position]: "6" }));
  const { batches } = await start();
  await expect.poll(batches).toEqual([[7, 8]]);
});

test.each([
  "resolve",
  "reject",
] as const)("a pending batch delays later ones. After the end of the run, it is neither retried nor stored: %s", async (outcome) => {
  const { client, file, start } = await openStream(1, 2);
  const pending = Promise.withResolvers<void>();
  const respond = (numbers: number[]) => (numbers.includes(2) ? pending.promise : null);
  const { batches, stop } = await start({ respond, batchSize: 1 });
  await expect.poll(batches).toEqual([[1], [2]]);
  client.add(3);
  stop();
  pending[outcome]();
  await setTimeout(50);
  expect(batches()).toEqual([[1], [2]]);
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ [position]: "1" });
});

test("a child shard is read after its parent has ended, whose records are not redelivered", async () => {
  const { client, start } = await openStream(1);
  client.shardRecords["shard-2"] = [createRecord(2)];
  client.ended.add("shard-1");
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = await start({ respond: (numbers) => (numbers.includes(1) ? promise : null) });
  await expect.poll(first.batches).toEqual([[1]]);
  await setTimeout(100);
  expect(first.batches()).toEqual([[1]]);
  resolve();
  await expect.poll(first.batches).toEqual([[1], [2]]);
  first.stop();
  client.shardRecords["shard-2"].push(createRecord(3));
  const second = await start();
  await expect.poll(second.batches).toEqual([[3]]);
});

test("a failing engine is logged, and its stream is read when the engine works again", async () => {
  const { client, start } = await openStream(1);
  client.failing = true;
  const { batches, log } = await start();
  await expect.poll(() => client.reads).toBeGreaterThan(1);
  client.failing = false;
  await expect.poll(batches).toEqual([[1]]);
  expect(log).toContain("The table's stream cannot be read and is retried: connection refused.");
});

test.each([
  [20, 250],
  [700, 700],
])("a stream without records is read four times a second, or once in a longer window: with %i ms, every %i ms", async (window, expected) => {
  const { client, start } = await openStream();
  const { log, delivered, waits } = await start({ window });
  await expect.poll(() => client.reads).toBeGreaterThan(3);
  // The other wait is for new shards.
  expect(new Set(waits)).toEqual(new Set([expected, 3000]));
  expect([log, delivered]).toEqual([[], []]);
});

const failed = (...identifiers: string[]) => ({
  batchItemFailures: identifiers.map((itemIdentifier) => ({ itemIdentifier })),
});

const all = [8, 9, 10, 11];

/** Delivers records 8 to 11. @returns the records of each call, and the delays between them */
async function deliver(respond: (call: number) => unknown) {
  let calls = 0;
  const { start } = await openStream(...all);
  const { batches, waits } = await start({ batchSize: 4, respond: () => respond(++calls) });
  await expect.poll(() => waits).toContain(250);
  return { calls: batches(), delays: waits.filter((each) => each !== 250 && each !== 3000) };
}

test.each([null, undefined, [], {}, failed()])("%j is a success", async (response) => {
  expect(await deliver(() => response)).toEqual({ calls: [all], delays: [] });
});

test.each([
  ["from the first failed record", failed("10", "9"), [9, 10, 11]],
  ["as a whole if it does not have the failed record", failed("10", "99"), all],
])("a batch is retried %s", async (_, response, rest) => {
  const { calls } = await deliver((call) => (call === 1 ? response : null));
  expect(calls).toEqual([all, rest]);
});

test("a batch is retried with exponential backoff while its function throws", async () => {
  const { calls, delays } = await deliver((call) => {
    if (call <= 9) throw new Error("on purpose");
  });
  expect(calls).toEqual(Array(10).fill(all));
  expect(delays).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
});
