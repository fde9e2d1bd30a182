import { afterEach, describe, expect, test, vi } from "vitest";
import { filteredRange } from "../../../../shared/pages/read/counted-range.ts";
import { readRoot } from "../../../../shared/pages/tree/tree-store.ts";
import { LeadHistory } from "../../../support/lead-history.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** An account with rows that are counted, in its tree and in that of their source, a settled tail, and young rows. */
async function historyWithTail(): Promise<LeadHistory> {
  const history = new LeadHistory();
  history.addMany(200, { age: 60_000, source: "web" });
  await history.deliver();
  const { tree } = filteredRange(history.account, history.owner.list, { sourceOrChannel: "web" });
  expect((await readRoot(tree))?.watermark).not.toBe("");
  history.advance(100_000);
  history.addMany(30, { age: 50_000, source: "web" });
  history.addMany(12, { age: 10_000, source: "web" });
  history.addMany(12, { age: 100, source: "web" });
  return history;
}

describe.each([
  {},
  { source: "web" },
  { status: "new" },
  { status: "new", source: "web" },
] as const)("a walk through all pages of leads with %o, while leads are created between all calls,", (filter) => {
  test.each([
    1, 5, 7, 20, 100,
  ])("misses no lead, and a page that is the last by its total ends with the oldest lead: by %i", async (limit) => {
    const history = await historyWithTail();
    const atStart = [...history.leads.keys()];
    const oldest = atStart.toSorted()[0];
    const seen = new Set<string>();
    let created = 0;
    history.table.before = () => {
      // With a limit of 1, a lead for each call would mean a walk without an end.
      if (created > 400 || ++created % Math.ceil(10 / limit) !== 0) return;
      history.add({ source: "web" });
      // One that lands late: between leads of the first pages.
      history.add({ source: "web", age: 4000 });
      history.add({ source: "web", age: 50 });
    };
    for (let page = 1, pages = 1; page <= pages; page++) {
      const { data, pagination } = await history.list(filter, { page, limit });
      const { total } = pagination;
      pages = Math.ceil(total / limit);
      for (const { id } of data) seen.add(id);
      expect(data).toHaveLength(Math.min(limit, Math.max(0, total - (page - 1) * limit)));
      expect(data.map(({ id }) => id)).toEqual([...new Set(data.map(({ id }) => id))].sort().reverse());
      if (page === pages) expect(data.at(-1)?.id).toBe(oldest);
      history.advance(37);
    }
    expect(atStart.filter((id) => !seen.has(id))).toEqual([]);
  });

  test("every page fits its total: whatever the limit, the rows before it and its own are all", async () => {
    const history = await historyWithTail();
    history.table.before = () => {
      history.add({ source: "web", age: 2000 });
      history.add({ source: "web" });
    };
    for (const limit of [1, 2, 3, 10, 13, 54, 55, 100]) {
      const newest = await history.list(filter, { page: 1, limit });
      const last = Math.ceil(newest.pagination.total / limit);
      for (const page of [last - 1, last, last + 1, last + 2]) {
        const { data, pagination } = await history.list(filter, { page, limit });
        const left = Math.max(0, pagination.total - (page - 1) * limit);
        expect(data).toHaveLength(Math.min(limit, left));
      }
    }
  });
});

test("a first page with all leads has them although one is created during the list", async () => {
  const history = await historyWithTail();
  const rows = history.leads.size;
  history.table.before = () => history.add();
  const { data, pagination } = await history.list({}, { page: 1, limit: rows });
  expect(data).toHaveLength(rows);
  expect(pagination.total).toBeGreaterThanOrEqual(rows);
});

test.each([
  [2, 100],
  [3, 50],
  [5, 27],
])("the last page has the oldest lead and no lead that landed after the count: page %i by %i", async (page, limit) => {
  const history = new LeadHistory();
  history.addMany(20, { age: 60_000 });
  await history.deliver();
  history.advance(100_000);
  history.addMany(110, { age: 100 });
  const oldest = [...history.leads.keys()][0];
  let late = 0;
  history.table.before = () => {
    // Older than all leads of the tail before the page, and younger than those that are settled.
    history.add({ age: 4000 });
    late++;
  };
  const { data, pagination } = await history.list({}, { page, limit });
  expect(late).toBeGreaterThanOrEqual(4);
  expect(pagination.total).toBeLessThan(history.leads.size);
  expect(data).toHaveLength(pagination.total - (page - 1) * limit);
  expect(data.at(-1)?.id).toBe(oldest);
});

test.each([
  {},
  { source: "web" },
] as const)("a page just past the end of leads with %o is empty, and only the newest rows are read", async (filter) => {
  const history = new LeadHistory();
  history.addMany(200, { age: 60_000, source: "web" });
  await history.deliver();
  history.advance(100_000);
  const request = { page: 11, limit: 20 };
  const { result, calls } = await history.table.watch(() => history.list(filter, request));
  expect(result).toEqual(history.expected(filter, request));
  expect(calls.map(({ name }) => name).sort()).toEqual(["GetCommand", "QueryCommand"]);
});
