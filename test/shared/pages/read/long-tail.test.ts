import { expect, test, vi } from "vitest";
import { isOf, TooExpensiveError } from "../../../../shared/dynamodb/dynamodb-errors.ts";
import { LeadHistory } from "../../../support/history.ts";
import { throttled } from "../../../support/watched-table.ts";

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

/** Lists until a list succeeds. @returns the numbers of calls and rows of the lists that failed */
async function listUntilRead(
  history: LeadHistory,
  page = 1,
  isExpected: (error: unknown) => boolean = isTooExpensive,
) {
  const request = { page, limit: 20 };
  const failed: { calls: number; rows: number }[] = [];
  for (;;) {
    if (failed.length > 30) throw new Error("No list succeeds.");
    try {
      const { result } = await history.table.watch(() => history.list({}, request));
      expect(result).toEqual(history.expected({}, request));
      return failed;
    } catch (error) {
      if (!isExpected(error)) throw error;
      const { calls } = history.table;
      failed.push({ calls: calls.length, rows: calls.reduce((sum, { rows }) => sum + rows, 0) });
    }
  }
}
const isTooExpensive = (error: unknown) => error instanceof TooExpensiveError;

test.each([
  1, 18, 20,
])("a tail that takes more calls than a list may make is read by several lists, here for page %i", async (page) => {
  const history = await historyWithTail(30);
  const failed = await listUntilRead(history, page);
  expect(failed.length).toBeGreaterThanOrEqual(2);
  expect(failed.length).toBeLessThanOrEqual(4);
  expect(new Set(failed.map(({ calls }) => calls))).toEqual(new Set([12]));
  expect((await history.table.watch(() => history.list())).units).toBeLessThan(300);
});

test("a tail that takes exactly the calls of a list is read by one, and one more page by two", async () => {
  const history = await historyWithTail(10);
  expect(await listUntilRead(history)).toEqual([]);
  expect(history.table.calls).toHaveLength(12);
  vi.restoreAllMocks();
  expect(await listUntilRead(await historyWithTail(11))).toHaveLength(1);
});

test("lists make progress although more rows came since the last list than one may read", async () => {
  const history = await historyWithTail(0);
  history.advance(10_000);
  await history.list();
  history.addMany(250, { padding: 100_000 });
  history.advance(10_000);
  expect(await listUntilRead(history)).toHaveLength(2);
});

test("lists that are throttled again and again read each row at most twice", async () => {
  const history = await historyWithTail(20);
  history.table.before = (_, call) => {
    if (call === 5) throw throttled();
  };
  const failed = await listUntilRead(history, 1, (error) => {
    // Lists of the range back off.
    history.advance(5001);
    return isOf(error, "throttled", "key-throttled");
  });
  expect(failed.length).toBeGreaterThan(2);
  // Each list reads its first page, and what is young.
  const rows = failed.reduce((sum, list) => sum + list.rows, 0);
  expect(rows).toBeLessThan(2 * 255 + 40 * (failed.length + 1));
});
