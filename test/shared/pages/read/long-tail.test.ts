import { expect, test } from "vitest";
import { countedLeads, type LeadHistory } from "../../../support/cases/history.ts";

/** An account with a tail of this many leads. 61 of them have 1 MB. */
async function historyWithTail(rows: number): Promise<LeadHistory> {
  const history = await countedLeads(40);
  history.addMany(rows, { age: 10_000, padding: 17_000 });
  return history;
}

test.each([
  1, 6,
])("a tail that takes all calls of a list is read, and a longer tail is refused until it is counted: page %i", async (page) => {
  const request = { page, limit: 20 };
  const read = async (history: LeadHistory) => {
    const { result, calls } = await history.table.watch(() => history.list({}, request));
    expect(result).toEqual(history.expected({}, request));
    return calls.length;
  };
  expect(await read(await historyWithTail(page === 1 ? 600 : 540))).toBe(12);
  const longer = await historyWithTail(660);
  await expect(read(longer)).rejects.toMatchObject({ name: "TooExpensiveError", code: "too_many_reads" });
  expect(longer.table.calls).toHaveLength(12);
  await longer.deliver();
  longer.advance(10_000);
  expect(await read(longer)).toBeLessThanOrEqual(4);
});
