import { beforeEach, expect, test, vi } from "vitest";
import { listLeads } from "../../../../shared/domain/leads.ts";
import { Pace } from "../../../../shared/dynamodb/pace.ts";
import type { Item } from "../../../../shared/dynamodb/table-client.ts";
import { maxIdAhead } from "../../../../shared/ids.ts";
import { verify } from "../../../../shared/pages/audit/verify.ts";
import { readRows } from "../../../../shared/pages/tree/rows.ts";
import { expectCounted, expectLists } from "../../../support/cases/expect-counted.ts";
import { LeadHistory } from "../../../support/cases/history.ts";
import { smallLimits } from "../../../support/requests/small-limits.ts";
import { putLeads } from "../../../support/tables/stored.ts";

const source = "web";
const filters = [{}, { status: "booked" }, { source }, { source, status: "new" }] as const;
const requests = [1, 2, 5, 9].map((page) => ({ page, limit: 7 }));

let history: LeadHistory;
beforeEach(() => {
  vi.spyOn(console, "error").mockReturnValue();
  history = new LeadHistory();
  for (let i = 0; i < 64; i++)
    history.add({ age: 60_000 - 100 * i, source, status: i % 3 === 0 ? "booked" : "new" });
});

const rows = () => [...history.table.memory.items()].filter(({ pk }) => pk === `LEAD#${history.account}`);

test.each<[string, string, (item: Item) => Item]>([
  ["rows of another account in the indexes", "pk", (item) => ({ ...item, pk: "LEAD#other" })],
  ["rows with other sort keys", "sk", (item) => ({ ...item, sk: `${item.sk}é` })],
])("every page and total is right despite %s, which are logged with their field %s", async (_, field, spoil) => {
  for (const item of rows()) history.table.memory.put(spoil(item));
  await expectLists(history, filters, requests);
  const { pk } = spoil(rows()[0] ?? {});
  expect(console.error).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ event: "invalid item", pk, field }),
  );
  await history.deliver(smallLimits);
  await expectCounted(history, [source]);
  await expectLists(history, filters, requests);
});

test("a row that is in the index of a status that it does not have is not in the list of that status", async () => {
  const [item = {}] = rows().filter(({ status }) => status === "new");
  await history.deliver(smallLimits);
  history.table.memory.put({ ...item, byStatus: `LEAD#${history.account}#booked` });
  await expectLists(history, [{ status: "booked" }], requests);
});

test.each([
  ["before all rows", (n: number) => `a${n}`],
  ["between the rows", (n: number, id: string) => `${id.slice(0, 20)}é${n}`],
])("counting continues past thousands of items that are no rows, %s", async (_, sortKey) => {
  const [item = {}] = rows();
  for (let n = 0; n < 2500; n++)
    history.table.memory.put({ ...item, sk: sortKey(10_000 + n, String(item.sk)) });
  const newest = [...history.rows.keys()].at(-1) ?? "";
  history.addMany(40, { age: 10_000, source });
  await history.deliver();
  history.advance(10_000);
  expect((await expectCounted(history)).watermark > newest).toBe(true);
});

test("a range ends before the row at its end", async () => {
  const [first = "", second, third = ""] = history.rows.keys();
  const { rows } = await readRows(history.owner, { start: first, end: third, maxRows: 10 });
  expect(rows.map(({ sk }) => sk)).toEqual([first, second]);
});

/** Verifies correct trees. @returns the sort keys of the items that are no rows */
async function auditedNames(): Promise<string[]> {
  const named: string[] = [];
  const onInvalid = ({ sk = "" }: { sk?: string }) => void named.push(sk);
  expect((await verify(history.owner, { pace: new Pace(1e9), onInvalid })).findings).toEqual([]);
  return named;
}

test("a read of rows fails after more than ten megabytes of items that are no rows, and an audit names each of them", async () => {
  const read = () => readRows(history.owner, { start: "", maxRows: 1 });
  const planted = Array.from({ length: 40 }, (_, n) => `lead_00é${10 + n}`);
  for (const [n, sk] of planted.entries()) {
    // One row is found after 20 such items, and none after 40.
    if (n === 20) expect((await read()).rows).toHaveLength(1);
    history.table.memory.put({ pk: `LEAD#${history.account}`, sk, name: "x".repeat(390_000) });
  }
  await expect(read()).rejects.toThrow(/^Too many items in LEAD#.* are no rows[.]$/);
  expect(await auditedNames()).toEqual(planted);
});

const plant = (count: number, start = Date.UTC(9000, 0, 1)) =>
  putLeads(history.table.memory, history.account, count, () => ({ source }), start);

test("no list shows rows of the future, or costs more because of them", async () => {
  const [newest = ""] = [...history.rows.keys()].slice(-1);
  await history.deliver(smallLimits);
  const window = { createdAfter: history.rows.get(newest)?.createdAt ?? "" };
  const read = async () => {
    const lists = [...filters, window].flatMap((filter) =>
      requests.map((request) => () => history.list(filter, request)),
    );
    const pages = [];
    for (const list of lists) {
      const { result, units } = await history.table.watch(list);
      pages.push({ result, units });
    }
    return pages;
  };
  const before = await read();
  const [planted] = plant(6000);
  expect(await read()).toEqual(before);
  const found = await listLeads(history.account, { id: [String(planted?.id)] });
  expect(found.pagination.total).toBe(0);
});

test("other rows are counted although there are rows of the future, and an audit reports each row of the future", async () => {
  plant(3);
  history.addMany(40, { age: 20_000, source });
  await history.deliver();
  await expectLists(history, filters, requests);
  expect(await auditedNames()).toHaveLength(3);
});

test("a row of a machine whose clock is ahead is listed, as far as clocks may differ", async () => {
  plant(1, history.now + maxIdAhead);
  plant(1, history.now + maxIdAhead + 1);
  expect((await history.list()).pagination.total).toBe(history.rows.size + 1);
});
