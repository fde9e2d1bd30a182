import { afterEach, expect, test, vi } from "vitest";
import { TooExpensiveError } from "../../../../shared/dynamodb/dynamodb-errors.ts";
import { LeadHistory } from "../../../support/lead-history.ts";
import { throttled } from "../../../support/watched-table.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** An account with a tail of this many pages of ten leads each, of which the newest are young. */
async function historyWithTail(pages: number): Promise<LeadHistory> {
  const history = new LeadHistory();
  history.addMany(40, { age: 60_000 });
  await history.deliver();
  history.advance(100_000);
  history.addMany(10 * pages, { age: 10_000, padding: 110_000 });
  history.addMany(15, { age: 100 });
  return history;
}

/** Lists until a list succeeds. @returns how many failed, and the rows that each one read */
async function listUntilRead(history: LeadHistory, request = { page: 1, limit: 20 }) {
  const rows: number[] = [];
  for (;;) {
    if (rows.length > 20) throw new Error("No list succeeds.");
    try {
      const { result } = await history.table.watch(() => history.list({}, request));
      expect(result).toEqual(history.expected({}, request));
      return rows;
    } catch (error) {
      if (!(error instanceof TooExpensiveError)) throw error;
      expect(history.table.calls).toHaveLength(12);
      rows.push(history.table.calls.reduce((sum, call) => sum + call.rows, 0));
    }
  }
}

test.each([
  1, 2, 12, 18, 20,
])("a tail that takes more calls than a list may make is read by several lists, here for page %i", async (page) => {
  const history = await historyWithTail(30);
  const rows = await listUntilRead(history, { page, limit: 20 });
  expect(rows.length).toBeGreaterThanOrEqual(2);
  expect(rows.length).toBeLessThanOrEqual(4);
  expect((await history.table.watch(() => history.list())).units).toBeLessThan(300);
});

test("a tail that takes exactly the calls of a list is read by one, and one more page by two", async () => {
  const history = await historyWithTail(10);
  const { result, calls } = await history.table.watch(() => history.list());
  expect(calls).toHaveLength(12);
  expect(result).toEqual(history.expected());
  vi.restoreAllMocks();
  expect(await listUntilRead(await historyWithTail(11))).toHaveLength(1);
});

test("totals and pages are exact after a throttle of any call", async () => {
  const failures = { throttled: 0, passed: 0 };
  for (let nth = 1; nth <= 12; nth++) {
    const history = await historyWithTail(5);
    history.table.before = (_, call) => {
      if (call === nth) throw throttled();
    };
    const request = { page: 3, limit: 20 };
    await history.table
      .watch(() => history.list({}, request))
      .then(
        ({ result }) => {
          expect(result).toEqual(history.expected({}, request));
          failures.passed++;
        },
        () => failures.throttled++,
      );
    history.table.before = () => {};
    // Lands in what the interrupted list has read.
    history.add({ age: 50 });
    history.advance(8000);
    history.addMany(3);
    for (const page of [1, 2, 4, 6]) {
      const again = { page, limit: 20 };
      expect(await history.list({}, again)).toEqual(history.expected({}, again));
    }
  }
  expect(failures.throttled).toBeGreaterThanOrEqual(8);
  expect(failures.passed).toBeGreaterThanOrEqual(1);
});

test("a list that is throttled again and again reads each row at most twice", async () => {
  const history = await historyWithTail(20);
  let rows = 0;
  let lists = 0;
  history.table.before = (_, call) => {
    if (call === 5) throw throttled();
  };
  for (; lists < 30; lists++) {
    history.advance(5001);
    const done = await history.table
      .watch(() => history.list())
      .then(
        ({ result }) => {
          expect(result).toEqual(history.expected());
          return true;
        },
        () => false,
      );
    rows += history.table.calls.reduce((sum, call) => sum + call.rows, 0);
    if (done) break;
  }
  expect(lists).toBeLessThan(30);
  // Each list reads its first page, and what is young.
  expect(rows).toBeLessThan(2 * 255 + 40 * (lists + 1));
});

test("rows that were created while the tail was read by several lists are counted", async () => {
  const history = await historyWithTail(40);
  history.table.before = (_, call) => {
    if (call % 5 === 0) history.add({ padding: 50_000 });
    if (call === 12) history.advance(1000);
  };
  let lists = 0;
  while (lists < 30) {
    lists++;
    const result = await history.list().catch(() => undefined);
    if (result) break;
  }
  expect(lists).toBeLessThan(30);
  history.table.before = () => {};
  expect(await history.list()).toEqual(history.expected());
});
