import { expect, test } from "vitest";
import { expectCounted } from "../../support/cases/expect-counted.ts";
import { countedLeads, type LeadHistory } from "../../support/cases/history.ts";
import { smallLimits } from "../../support/requests/small-limits.ts";
import type { WatchedCall } from "../../support/tables/watched-table.ts";

let history: LeadHistory;

const source = "web";
const nth = (n: number) => [...history.rows.keys()].at(n) ?? "";

/** What a call reads or writes: the root or a node of a tree, or rows. */
function toText({ name, input }: WatchedCall): string {
  const keys = JSON.stringify(input.TransactItems ?? input.Key ?? input.Item ?? {});
  const part = keys.includes('"sk":"root"') ? "root" : "node";
  const tree = /"COUNT#[^#"]+#LEAD#/.test(keys) ? `${source} ${part}` : part;
  return `${name.replace("Command", "")} ${keys === "{}" ? (input.IndexName ?? "rows") : tree}`;
}

/** Runs something. @returns its result, and its calls in order: successive equal calls are one text with their number */
async function callsOf<T>(run: () => Promise<T>) {
  const { result, calls } = await history.table.watch(run);
  const texts = calls.map(toText);
  const starts = texts.flatMap((text, n) => (text === texts[n - 1] ? [] : n));
  const grouped = starts.map((start, n) => {
    const times = (starts[n + 1] ?? texts.length) - start;
    return times > 1 ? `${times} ${texts[start]}` : texts[start];
  });
  return { result, calls: grouped.join(", ") };
}

test("pages of 400 leads, in trees with three levels of nodes, take exactly these calls", async () => {
  history = await countedLeads(400, { source }, smallLimits);
  expect((await expectCounted(history, [source])).level).toBe(3);
  const both = { source, status: "new" } as const;
  for (const [filter, page, expected] of [
    [{}, 1, "Get root, Query rows"],
    [{}, 2, "Get root, Query rows, 3 Get node, Query rows"],
    [{}, 10, "Get root, Query rows, 3 Get node, Query rows"],
    [{}, 20, "Get root, Query rows, 3 Get node, Query rows"],
    [{}, 21, "Get root, Query rows"],
    [{ status: "new" }, 1, "Get root, Query by-status"],
    [{ status: "new" }, 10, "Get root, Query by-status, 3 Get node, Query by-status"],
    [{ status: "booked" }, 1, "Get root, Query by-status"],
    [{ source }, 1, "Get web root, Query by-label"],
    [{ source }, 10, "Get web root, Query by-label, 3 Get web node, Query by-label"],
    [{ source }, 21, "Get web root, Query by-label"],
    [both, 10, "Get web root, Query by-status-and-label, 3 Get web node, Query by-status-and-label"],
  ] as const) {
    const request = { page, limit: 20 };
    const { result, calls } = await callsOf(() => history.list(filter, request));
    expect(result).toEqual(history.expected(filter, request));
    expect([filter, page, calls]).toEqual([filter, page, expected]);
  }
  const [createdAfter = "", createdBefore = ""] = [100, 300].map((n) => history.rows.get(nth(n))?.createdAt);
  for (const [filter, page, expected] of [
    [{}, 1, "Get root, Query rows, 6 Get node"],
    [{}, 5, "Get root, 9 Get node, Query rows"],
    [{ source }, 5, "Get web root, 9 Get web node, Query by-label"],
  ] as const) {
    const window = { ...filter, createdAfter, createdBefore };
    const { result, calls } = await callsOf(() => history.list(window, { page, limit: 20 }));
    const [start, end] = [300 - 20 * page, 320 - 20 * page];
    expect(result.data.map(({ id }) => id)).toEqual([...history.rows.keys()].slice(start, end).reverse());
    expect([window, page, calls]).toEqual([window, page, expected]);
  }
});

test.each([
  ["in the root of a list without sources", 30, undefined, "Get root, Query rows, BatchGet rows, Put root"],
  [
    "in a node of a list and of a source",
    300,
    source,
    "Get root, Query rows, TransactGet root, BatchGet rows, TransactWrite root, Get web root, TransactGet web root, BatchGet rows, TransactWrite web root",
  ],
])("a changed row %s takes exactly these calls to count", async (_, count, source, expected) => {
  history = await countedLeads(count, source ? { source } : {});
  history.setStatus(nth(3), "booked");
  expect((await callsOf(() => history.deliver())).calls).toBe(expected);
});

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
