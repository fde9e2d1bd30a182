import { describe, expect, test } from "vitest";
import { listLeads } from "../../../../shared/domain/leads.ts";
import { expectCounted } from "../../../support/cases/expect-counted.ts";
import { countedLeads, LeadHistory } from "../../../support/cases/history.ts";

const source = "web";
const filters = [{}, { status: "new", source }] as const;

/** An account with rows that are counted, in its tree and in that of their source, a settled tail, and young rows. */
async function historyWithTail(): Promise<LeadHistory> {
  const history = await countedLeads(100, { source });
  await expectCounted(history, [source]);
  history.addMany(30, { age: 50_000, source });
  history.addMany(12, { age: 10_000, source });
  history.addMany(12, { age: 100, source });
  return history;
}

describe.each(filters)("leads with %o, while some are created between all calls,", (filter) => {
  test.each([
    3, 20, 54, 154,
  ])("are all on the pages, and the last page by the total ends with the oldest lead: %i on a page", async (limit) => {
    const history = await historyWithTail();
    const atStart = [...history.rows.keys()];
    const oldest = atStart.toSorted()[0];
    const seen = new Set<string>();
    let created = 0;
    history.table.before = () => {
      // With small pages, a new lead for each call would never let the walk end.
      if (created > 200 || ++created % Math.ceil(10 / limit) !== 0) return;
      // Some leads land late, between the leads of the first pages.
      for (const age of [0, 50, 2400]) history.add({ source, age });
    };
    for (let page = 1, pages = 1; page <= pages; page++) {
      const { data, pagination } = await history.list(filter, { page, limit });
      pages = Math.ceil(pagination.total / limit);
      for (const { id } of data) seen.add(id);
      expect(data).toHaveLength(Math.min(limit, Math.max(0, pagination.total - (page - 1) * limit)));
      expect(data.map(({ id }) => id)).toEqual([...new Set(data.map(({ id }) => id))].sort().reverse());
      if (page === pages) expect(data.at(-1)?.id).toBe(oldest);
      history.advance(37);
    }
    expect(atStart.filter((id) => !seen.has(id))).toEqual([]);
  });
});

test("a walk from the oldest lead, while 50 a second are created, misses only late leads and repeats no settled lead", async () => {
  const history = new LeadHistory();
  const settled = history.addMany(500, { age: 5000 });
  await history.deliver();
  history.advance(3000);
  const young = history.addMany(150, { age: 0 });
  const onTime: string[] = [];
  const seen: string[] = [];
  for (let page = 1, pages = 1; page <= pages; page++) {
    const query = { sort: "createdAt", page: `${page}`, limit: "100" } as const;
    const { data, pagination } = await listLeads(history.account, query);
    seen.push(...data.map(({ id }) => id));
    pages = Math.ceil(pagination.total / pagination.limit);
    if (page === pages) break;
    for (let n = 0; n < 5; n++) {
      history.advance(20);
      if (n % 2 === 0) onTime.push(history.add());
      else history.add({ age: 1200 * n - 1200 });
    }
  }
  const distinct = new Set(seen);
  expect([...settled, ...young, ...onTime].filter((id) => !distinct.has(id))).toEqual([]);
  // A late lead moves the younger leads, so the last leads of a page appear again.
  const repeated = seen.filter((id, n) => seen.indexOf(id) < n);
  expect(repeated.length).toBeGreaterThan(0);
  expect(repeated.filter((id) => settled.includes(id))).toEqual([]);
  // A lead that lands on a page that has been read is missed.
  expect([...history.rows.keys()].filter((id) => !distinct.has(id)).length).toBeGreaterThan(0);
});

test("a row that lands on a page while the page is read is not listed, because the total does not include it", async () => {
  const history = await historyWithTail();
  const request = { page: 2, limit: 20 };
  const expected = history.expected({}, request);
  const restore = history.save();
  const { calls } = await history.table.watch(() => history.list({}, request));
  restore();
  history.table.before = (_, call) => {
    if (call === calls.length) history.add({ age: 30_000 });
  };
  const { result, calls: again } = await history.table.watch(() => history.list({}, request));
  expect(result).toEqual(expected);
  // The row in its place is read by one more call, which reads no other row.
  expect(again.slice(calls.length).map(({ rows }) => rows)).toEqual([1]);
  expect(history.expected({}, request)).not.toEqual(expected);
});
