import { afterEach, expect, test, vi } from "vitest";
import { TooExpensiveError } from "../../../../shared/dynamodb/dynamodb-errors.ts";
import { LeadHistory } from "../../../support/lead-history.ts";
import { throttled } from "../../../support/watched-table.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** An account whose first leads are counted. */
async function countedHistory(): Promise<LeadHistory> {
  const history = new LeadHistory();
  history.addMany(40, { age: 60_000 });
  await history.deliver();
  history.advance(100_000);
  return history;
}

test("a settled tail is read once: later lists read only what is young", async () => {
  const history = await countedHistory();
  history.addMany(2000);
  history.advance(8000);
  const first = await history.table.watch(() => history.list());
  expect(first.result).toEqual(history.expected());
  expect(first.units).toBeGreaterThan(80);
  for (const page of [1, 2, 60, 101, 102]) {
    const request = { page, limit: 20 };
    const next = await history.table.watch(() => history.list({}, request));
    expect(next.result).toEqual(history.expected({}, request));
    expect(next.units).toBeLessThanOrEqual(6);
    expect(next.calls.length).toBeLessThanOrEqual(4);
  }
});

test("rows that were created since the last list are read once, too", async () => {
  const history = await countedHistory();
  history.addMany(2000);
  history.advance(8000);
  await history.list();
  history.addMany(1000);
  history.advance(60_000);
  const second = await history.table.watch(() => history.list());
  expect(second.result).toEqual(history.expected());
  // And those of the first list's page, which may have been read before its root.
  expect(second.calls.reduce((sum, { rows }) => sum + rows, 0)).toBeLessThanOrEqual(1000 + 1 + 20);
  const third = await history.table.watch(() => history.list());
  expect(third.units).toBeLessThanOrEqual(6);
});

test("a deleted row of the tail is not remembered after a maintainer has seen the deletion", async () => {
  const history = await countedHistory();
  history.addMany(20, { age: 40_000 });
  const [, last = ""] = [...history.leads.keys()].slice(-2);
  await history.list({}, { page: 1, limit: 5 });
  history.delete(last);
  await history.deliver();
  expect(await history.list({}, { page: 1, limit: 5 })).toEqual(history.expected({}, { page: 1, limit: 5 }));
});

test("a row that was deleted while it was young for the maintainer, but settled for a faster clock, is not remembered", async () => {
  const history = await countedHistory();
  history.addMany(10, { age: 4500 });
  const last = [...history.leads.keys()].at(-1) ?? "";
  const request = { page: 1, limit: 5 };
  const list = () => {
    vi.setSystemTime(history.now + 1000);
    return history.list({}, request).finally(() => vi.setSystemTime(history.now));
  };
  await list();
  history.delete(last);
  await history.deliver(undefined, -1000);
  history.advance(60_000);
  expect(await list()).toEqual(history.expected({}, request));
});

test("a list of a source remembers nothing: a deleted row is gone at once", async () => {
  const history = await countedHistory();
  history.addMany(60, { source: "web", age: 90_000 });
  const deleted = [...history.leads.keys()].at(-30) ?? "";
  const [filter, request] = [{ source: "web" }, { page: 1, limit: 5 }];
  expect(await history.list(filter, request)).toEqual(history.expected(filter, request));
  history.delete(deleted);
  expect(await history.list(filter, request)).toEqual(history.expected(filter, request));
});

test("the rows of a whole list that has no tree yet are read once", async () => {
  const history = new LeadHistory();
  history.addMany(1000, { age: 60_000 });
  const request = { page: 2, limit: 20 };
  for (const [least, most] of [
    [1000, 1100],
    [20, 100],
  ] as const) {
    const { result, calls } = await history.table.watch(() => history.list({}, request));
    expect(result).toEqual(history.expected({}, request));
    const rows = calls.reduce((sum, call) => sum + call.rows, 0);
    expect(rows).toBeGreaterThanOrEqual(least);
    expect(rows).toBeLessThanOrEqual(most);
  }
});

test("lists make progress although more rows came since the last list than one may read", async () => {
  const history = await countedHistory();
  history.addMany(30, { age: 1000 });
  history.advance(10_000);
  expect((await history.list()).pagination.total).toBe(70);
  history.addMany(250, { padding: 100_000 });
  history.advance(10_000);
  const tooExpensive = async () => {
    try {
      await history.list();
      return false;
    } catch (error) {
      expect(error).toBeInstanceOf(TooExpensiveError);
      return true;
    }
  };
  let lists = 1;
  while (lists < 10 && (await tooExpensive())) lists++;
  expect(lists).toBe(3);
  expect(await history.list()).toEqual(history.expected());
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
  const { result, calls } = await history.table.watch(() => history.list());
  expect(result).toEqual(history.expected());
  expect(calls.reduce((sum, { rows }) => sum + rows, 0)).toBeLessThan(100);
});
