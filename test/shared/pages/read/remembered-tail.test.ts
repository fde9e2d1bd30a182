import type { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { table } from "../../../../shared/dynamodb/table-client.ts";
import { forgetTails } from "../../../../shared/pages/read/remembered-tail.ts";
import { readTail } from "../../../../shared/pages/read/tail.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { LeadHistory } from "../../../support/history.ts";
import { throttled, type WatchedCall } from "../../../support/watched-table.ts";

afterEach(() => {
  forgetTails();
});

const rowsRead = (calls: readonly WatchedCall[]) => calls.reduce((sum, { rows }) => sum + rows, 0);

/** Lists, and compares the page with the model. */
async function list(history: LeadHistory, page = 1) {
  const watched = await history.table.watch(() => history.list({}, { page, limit: 20 }));
  expect(watched.result).toEqual(history.expected({}, { page, limit: 20 }));
  return watched;
}

/** An account whose first leads are counted. */
async function countedHistory(): Promise<LeadHistory> {
  const history = new LeadHistory();
  history.addMany(40, { age: 60_000 });
  await history.deliver();
  history.advance(100_000);
  return history;
}

test("a settled tail is read once: later lists read only what is young, and what was created since", async () => {
  const history = await countedHistory();
  history.addMany(2000);
  history.advance(8000);
  expect((await list(history)).units).toBeGreaterThan(80);
  for (const page of [1, 2, 60, 101, 102]) {
    const { units, calls } = await list(history, page);
    expect(units).toBeLessThanOrEqual(6);
    expect(calls.length).toBeLessThanOrEqual(4);
  }
  history.addMany(1000);
  history.advance(60_000);
  // And the newest rows of the first list, which it may have read before the root.
  expect(rowsRead((await list(history)).calls)).toBeLessThanOrEqual(1000 + 1 + 20);
  expect((await list(history)).units).toBeLessThanOrEqual(6);
});

test("an interrupted list keeps what was known before it", async () => {
  const history = await countedHistory();
  history.addMany(2000);
  history.advance(8000);
  await history.list();
  history.addMany(30, { padding: 100_000 });
  history.advance(8000);
  history.table.before = (_, call) => {
    if (call === 4) throw throttled();
  };
  await expect(history.table.watch(() => history.list())).rejects.toThrow("throttled");
  history.table.before = () => {};
  history.advance(8000);
  expect(rowsRead((await list(history)).calls)).toBeLessThan(100);
});

describe("an environment remembers", () => {
  /** The sort keys of all tails, newest first. */
  let keys: readonly string[];

  beforeEach(() => {
    vi.spyOn(table, "send").mockImplementation((async ({ input }: QueryCommand) => {
      const start = Number(input.ExclusiveStartKey?.start ?? 0);
      const end = start + 10_000;
      const LastEvaluatedKey = end < keys.length ? { start: end } : undefined;
      return { Items: keys.slice(start, end).map((sk) => ({ sk })), LastEvaluatedKey };
    }) as never);
  });

  const list = countedLists.lead;
  const id = (end: string) => `lead_${"0".repeat(25)}${end}`;

  /** Reads a tail. @returns whether its rows were read, and not remembered */
  async function isRead(partition: string): Promise<boolean> {
    let calls = 0;
    const newest = { items: [{ sk: id("Y") }], done: false };
    const tail = { watermark: "a", before: undefined, newest, memory: { until: id("Y"), version: "1" } };
    const found = await readTail({ list, partition, rows: {} }, tail, (send) => {
      calls++;
      return send({ abortSignal: new AbortController().signal });
    });
    expect(found.length).toBe(1 + keys.length);
    return calls > 0;
  }

  test("the tails of 1,000 ranges, and forgets the one that was read least recently", async () => {
    keys = [id("M")];
    for (let n = 0; n < 1000; n++) expect(await isRead(`${n}`)).toBe(true);
    for (const [partition, isNew] of [
      ["0", false],
      ["another", true],
      ["0", false],
      ["2", false],
      ["1", true],
    ] as const)
      expect(await isRead(partition)).toBe(isNew);
  });

  test("a million sort keys, and forgets the tail that was read least recently", async () => {
    for (const [partition, length, isNew] of [
      ["long", 600_000, true],
      ["short", 1, true],
      ["longer", 400_000, true],
      ["short", 1, false],
      // It has become shorter meanwhile, which an environment that remembers it would not know.
      ["long", 1, true],
    ] as const) {
      keys = Array.from({ length }, () => id("M"));
      expect(await isRead(partition), partition).toBe(isNew);
    }
  });
});
