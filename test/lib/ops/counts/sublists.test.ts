import { DeleteCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Pace } from "../../../../lib/ops/common/pace.ts";
import { countedRows } from "../../../../lib/ops/counts/all-rows.ts";
import { repairSublists } from "../../../../lib/ops/counts/repair-sublists.ts";
import { readSublists } from "../../../../lib/ops/counts/tree-items.ts";
import { verify } from "../../../../lib/ops/counts/verify.ts";
import { listLeads } from "../../../../shared/domain/leads.ts";
import { type Sublist, sublistKey } from "../../../../shared/dynamodb/keys.ts";
import { type Item, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { countedChanges } from "../../../../shared/pages/maintain/changes.ts";
import { maintain } from "../../../../shared/pages/maintain/maintain.ts";
import { maintainLists } from "../../../../shared/pages/maintain/maintain-lists.ts";
import { forgetTails } from "../../../../shared/pages/read/tail.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { decodeEntries, type Entry, encodeEntries, sumEntry } from "../../../../shared/pages/tree/entry.ts";
import { commit, isTreeChanged, readRoot, treeKey } from "../../../../shared/pages/tree/tree-store.ts";
import { putSourcedLeads } from "../../../support/counted-sublists.ts";
import { useMemoryTable } from "../../../support/memory-leads.ts";
import type { MemoryTable } from "../../../support/memory-table.ts";
import { smallLimits as limits } from "../../../support/small-limits.ts";
import { streamRecord } from "../../../support/stream-record.ts";

const leads = { account: "acme", list: countedLists.lead };
const wait = async (milliseconds: number) => void vi.setSystemTime(Date.now() + milliseconds);
const pace = new Pace(undefined, wait);
const repair = (owner: typeof leads) => repairSublists(owner, { limits, wait, pace });
const check = (owner: typeof leads) => verify(owner, { limits, wait, pace });

const origin = (source: string): Sublist => ({ index: "by-origin", partition: `LEAD#acme#${source}` });
const webLeads = { ...leads, sublist: origin("web") };

/** The time at the beginning, and that of the first row. */
const now = Date.UTC(2026, 0, 1);
const start = now - 10_000_000;

let memory: MemoryTable;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now });
  memory = useMemoryTable();
  forgetTails();
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const write = (Item: Item) => memory.execute(new PutCommand({ TableName: tableName, Item }));
const remove = ({ pk, sk }: Item) =>
  memory.execute(new DeleteCommand({ TableName: tableName, Key: { pk, sk } }));
const count = (owner: typeof leads) =>
  maintain(owner, [], { deadline: Number.POSITIVE_INFINITY, limits, wait });

/** The items of trees whose partition and name match. */
const treeItems = (pattern: RegExp) =>
  [...memory.items()].filter(({ pk, sk }) => String(pk).startsWith("COUNT#") && pattern.test(`${pk} ${sk}`));

const sublistNode = /#by-[^ ]+ node#\d+#1#/;

/** Fifty leads of two sources with trees, and one of a short source. */
async function countedLeads() {
  const sources = ["web", "ads"];
  const items = putSourcedLeads(memory, "acme", 51, (i) => ({
    source: i === 50 ? "rare" : (sources[i % 2] ?? ""),
  }));
  await count(leads);
  await repair(leads);
  return items;
}

test("a rebuild makes the trees of long sublists, and a killed one is continued", async () => {
  let calls = 0;
  memory = useMemoryTable((command, original) => {
    if (++calls === 60) throw new Error("killed");
    return original(command);
  });
  await expect(countedLeads()).rejects.toThrow("killed");
  expect((await readSublists(leads, pace)).length).toBeGreaterThan(0);
  await repair(leads);
  const found = await readSublists(leads, pace);
  expect(found.map(({ sublist }) => sublist).sort((a, b) => (a.partition < b.partition ? -1 : 1))).toEqual([
    { index: "by-origin", partition: "LEAD#acme#ads" },
    { index: "by-origin", partition: "LEAD#acme#web" },
  ]);
  expect(await check(leads)).toEqual([]);
  const { pagination } = await listLeads("acme", { source: "web" }, { page: 2, limit: 10 });
  expect(pagination.total).toBe(25);
});

test("a rebuild counts the tree that maintainers have just made for rows that an operator changed", async () => {
  const items = putSourcedLeads(memory, "acme", 50, () => ({ source: "web" }));
  const records = items.map((item) => {
    const { byOrigin, ...before } = item;
    return streamRecord(before, item);
  });
  await maintainLists(countedChanges(records), { deadline: Number.POSITIVE_INFINITY, limits, wait });
  const counted = async () => {
    const root = await readRoot(webLeads);
    return root && countedRows(root);
  };
  expect(await counted()).toBe(0);
  await repair(leads);
  expect(await counted()).toBe(50);
  expect(await check(leads)).toEqual([]);
});

test("the rows of all sublists are read once", async () => {
  await countedLeads();
  let rows = 0;
  const onRows = (read: number) => {
    rows += read;
  };
  expect(await verify(leads, { limits, wait, pace, onRows })).toEqual([]);
  expect(rows).toBe(51);
});

test("a lost change is reported in the whole list and in its sublist, whose tree a rebuild makes again", async () => {
  const items = await countedLeads();
  const changed = { ...items[20], status: "booked" };
  write(changed);
  const found = await check(leads);
  expect(found).toMatchObject([
    { level: 0 },
    {
      source: "web",
      level: 0,
      start: changed.sk,
      cells: [
        { status: "new", counted: 1, actual: 0 },
        { status: "(other)", counted: 0, actual: 1 },
      ],
    },
  ]);
  await maintain(leads, [`${changed.sk}`], { deadline: Number.POSITIVE_INFINITY, limits, wait });
  const web = { ...leads, sublist: { index: "by-origin", partition: "LEAD#acme#web" } as const };
  const before = await readRoot(web);
  await repair(leads);
  expect(await check(leads)).toEqual([]);
  expect((await readRoot(webLeads))?.generation).toBeGreaterThan(before?.generation ?? Infinity);
});

test("a lost deletion and a lost creation are reported and corrected", async () => {
  const items = await countedLeads();
  remove(items[10] as Item);
  const [late] = putSourcedLeads(memory, "acme", 1, () => ({ source: "ads" }), start + 11_500);
  await maintain(leads, [`${items[10]?.sk}`, `${late?.sk}`], {
    deadline: Number.POSITIVE_INFINITY,
    limits,
    wait,
  });
  const found = new Map((await check(leads)).map(({ source, start }) => [source, start]));
  expect(found).toEqual(
    new Map([
      ["web", items[10]?.sk],
      ["ads", late?.sk],
    ]),
  );
  await repair(leads);
  expect(await check(leads)).toEqual([]);
});

test("a difference that is corrected before the last comparison is not reported", async () => {
  const items = await countedLeads();
  write({ ...items[20], status: "booked" });
  const keys = [`${items[20]?.sk}`];
  await maintain(leads, keys, { deadline: Number.POSITIVE_INFINITY, limits, wait });
  let waits = 0;
  const differences = await verify(leads, {
    ...{ limits, pace },
    wait: async (milliseconds) => {
      await wait(milliseconds);
      if (++waits === 3) await repair(leads);
    },
  });
  expect({ differences, waits }).toEqual({ differences: [], waits: 3 });
});

test("rows that are created and changed while a list is verified are no differences", async () => {
  const items = await countedLeads();
  let reads = 0;
  const onRows = async () => {
    if (++reads !== 2) return;
    // The trees have been read, and some of the rows.
    write({ ...items[4], status: "booked" });
    write({ ...items[40], status: "booked" });
    const created = [500, 9500].flatMap((at) =>
      putSourcedLeads(memory, "acme", 1, () => ({ source: "web" }), start + at),
    );
    const records = [
      ...[4, 40].map((i) => streamRecord(items[i], { ...items[i], status: "booked" })),
      ...created.map((item) => streamRecord(undefined, item)),
    ];
    await maintainLists(countedChanges(records), { deadline: Number.POSITIVE_INFINITY, limits, wait });
  };
  expect(await verify(leads, { limits, wait, pace, onRows })).toEqual([]);
  expect(reads).toBeGreaterThan(2);
  expect(await check(leads)).toEqual([]);
});

test.each([
  ["a missing node", (node: Item) => void remove(node)],
  [
    "a node that is not the sum of its entries",
    (node: Item) => {
      const entries = decodeEntries(node.entries as Uint8Array);
      write({ ...node, entries: encodeEntries(entries.slice(1)) });
    },
  ],
])("%s is reported, and the tree is made again", async (_, tamper) => {
  await countedLeads();
  const [node] = treeItems(sublistNode);
  tamper(node as Item);
  const generations = async () => {
    const owners = await readSublists(leads, pace);
    const roots = await Promise.all(owners.map((owner) => readRoot(owner)));
    return roots.map((root) => Number(root?.generation));
  };
  const before = await generations();
  const levels = (await check(leads)).map(({ level }) => level);
  expect(Math.min(...levels)).toBe(0);
  expect(Math.max(...levels)).toBe(1);
  await repair(leads);
  const raised = (await generations()).map((generation, i) => generation - Number(before[i]));
  expect(raised.sort()).toEqual([0, 1]);
  expect(await check(leads)).toEqual([]);
  expect(treeItems(new RegExp(`^${node?.pk} ${node?.sk}`))).toEqual([]);
  for (const source of ["web", "ads"])
    expect((await listLeads("acme", { source }, { page: 1, limit: 10 })).pagination.total).toBe(25);
});

/** Changes the rows of the first node of the tree of web, and the sums above it. */
function changeRows(change: (rows: Entry[]) => Entry[]): void {
  const [node] = treeItems(/#by-origin#\S+ node#\d+#1#$/).filter(({ pk }) => pk === treeKey(webLeads, "").pk);
  const rows = change(decodeEntries(node?.entries as Uint8Array));
  write({ ...node, entries: encodeEntries(rows) });
  const [root] = treeItems(/ root$/).filter(({ pk }) => pk === node?.pk);
  const [first, ...others] = decodeEntries(root?.entries as Uint8Array);
  write({ ...root, entries: encodeEntries([{ ...sumEntry(rows), start: first?.start ?? "" }, ...others]) });
}

test.each([
  {
    damage: "a row too many",
    change: ([first, second, ...rows]: Entry[]) => [
      ...(first && second ? [first, { ...first, start: `${first.start}0` }, second] : []),
      ...rows,
    ],
    cells: [[{ status: "new", counted: 1, actual: 0 }]],
  },
  {
    damage: "a row too few",
    change: (rows: Entry[]) => rows.toSpliced(1, 1),
    cells: [[{ status: "new", counted: 0, actual: 1 }]],
  },
  {
    damage: "a row with a wrong status",
    change: ([first, ...rows]: Entry[]) => [
      ...(first ? [{ ...first, cells: new Map([[3, 1]]) }] : []),
      ...rows,
    ],
    cells: [
      [
        { status: "new", counted: 0, actual: 1 },
        { status: "(other)", counted: 1, actual: 0 },
      ],
    ],
  },
  {
    damage: "a row out of order",
    change: ([first, second, ...rows]: Entry[]) => [...(first && second ? [second, first] : []), ...rows],
    cells: [[{ status: "new", counted: 0, actual: 1 }], [{ status: "new", counted: 1, actual: 0 }]],
  },
])("$damage in a sublist whose sums are right is reported, and the tree is made again", async ({
  change,
  cells,
}) => {
  await countedLeads();
  expect((await readRoot(webLeads))?.level).toBe(1);
  changeRows(change);
  const found = await check(leads);
  expect(found.map(({ source, level }) => ({ source, level }))).toEqual(
    cells.map(() => ({ source: "web", level: 0 })),
  );
  expect(found.map((difference) => difference.cells)).toEqual(cells);
  await repair(leads);
  expect(await check(leads)).toEqual([]);
});

test("what is left of a deleted tree, and the commit of a late maintainer, are not adopted by its successor", async () => {
  const items = await countedLeads();
  const sublist = { index: "by-origin", partition: "LEAD#acme#web" } as const;
  const web = { ...leads, sublist };
  const late = await readRoot(web);
  const { pk, sk } = sublistKey("lead", "acme", sublist);
  for (const item of memory.items()) if (item.pk === pk && item.sk === sk) remove(item);
  remove(treeKey(web, "root"));
  const ofWeb = items.filter(({ source }) => source === "web");
  for (const item of ofWeb.slice(0, 10)) remove(item);
  const keys = ofWeb.map((item) => String(item.sk));
  await maintain(leads, keys, { deadline: Number.POSITIVE_INFINITY, limits, wait });
  await repair(leads);
  expect(await check(leads)).toEqual([]);
  const { pagination } = await listLeads("acme", { source: "web" }, { page: 1, limit: 10 });
  expect(pagination.total).toBe(ofWeb.length - 10);
  // Its version has not been that of the successor, and never will be.
  expect((await readRoot(web))?.generation).toBeGreaterThan(late?.generation ?? Infinity);
  expect(late && (await commit(web, "root", late, []).catch(isTreeChanged))).toBe(true);
  for (let commits = 0; commits < 5; commits++) {
    const root = await readRoot(web);
    expect(root?.version).toBeGreaterThan(late?.version ?? Infinity);
    if (root) await commit(web, "root", root, []);
  }
});
