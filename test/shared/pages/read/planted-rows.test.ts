import { beforeEach, expect, test } from "vitest";
import type { Item } from "../../../../shared/dynamodb/table-client.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { readRows } from "../../../../shared/pages/tree/rows.ts";
import { expectCounted, expectLists } from "../../../support/expect-counted.ts";
import { LeadHistory } from "../../../support/history.ts";
import { smallLimits } from "../../../support/small-limits.ts";

const source = "web";
const filters = [{}, { status: "booked" }, { source }, { source, status: "new" }] as const;
const requests = [1, 2, 5, 9].map((page) => ({ page, limit: 7 }));

let history: LeadHistory;
beforeEach(async () => {
  history = new LeadHistory();
  for (let i = 0; i < 64; i++)
    history.add({ age: 60_000 - 100 * i, source, status: i % 3 === 0 ? "booked" : "new" });
});

const rows = () => [...history.table.memory.items()].filter(({ pk }) => pk === `LEAD#${history.account}`);

test.each<[string, (item: Item) => Item]>([
  ["rows of another account in the indexes", (item) => ({ ...item, pk: "LEAD#other" })],
  ["rows with other sort keys", (item) => ({ ...item, sk: `${item.sk}é` })],
])("every page and total is right beside %s, before and after they are counted", async (_, spoil) => {
  for (const item of rows()) history.table.memory.put(spoil(item));
  await expectLists(history, filters, requests);
  await history.deliver(smallLimits);
  await expectCounted(history, [source]);
  await expectLists(history, filters, requests);
});

test("a row that is in the index of another status than its own is not in the list of that status", async () => {
  const [item = {}] = rows().filter(({ status }) => status === "new");
  await history.deliver(smallLimits);
  history.table.memory.put({ ...item, byStatus: `LEAD#${history.account}#booked` });
  await expectLists(history, [{ status: "booked" }], requests);
});

test.each([
  ["before all rows", (n: number) => `a${n}`],
  ["between the rows", (n: number, id: string) => `${id.slice(0, 20)}é${n}`],
])("the counts go past thousands of items that are no rows, %s", async (_, sortKey) => {
  const [item = {}] = rows();
  for (let n = 0; n < 2500; n++)
    history.table.memory.put({ ...item, sk: sortKey(10_000 + n, String(item.sk)) });
  const newest = [...history.rows.keys()].at(-1) ?? "";
  history.addMany(40, { age: 10_000, source });
  await history.deliver();
  history.advance(10_000);
  expect((await expectCounted(history)).watermark > newest).toBe(true);
});

test("rows behind more than ten megabytes of items that are no rows are not looked for", async () => {
  const owner = { account: history.account, list: countedLists.lead };
  const read = () => readRows(owner, { start: "", maxRows: 1 });
  for (let n = 0; n < 40; n++) {
    // Those of one page, and more than nine.
    if (n === 20) expect((await read()).rows).toHaveLength(1);
    history.table.memory.put({ pk: `LEAD#${history.account}`, sk: `a${n}`, name: "x".repeat(390_000) });
  }
  await expect(read()).rejects.toThrow(/^More than 10 MB of items in LEAD#.* are no rows[.]$/);
});
