import { GetCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test, vi } from "vitest";
import { accountPartition, labelTreeKey } from "../../../../shared/dynamodb/keys.ts";
import { readItem } from "../../../../shared/dynamodb/table-client.ts";
import { feedLabelTrees } from "../../../../shared/pages/maintain/feed-label-trees.ts";
import { maintainList, stepLabelTree } from "../../../../shared/pages/maintain/maintain-list.ts";
import { maintainLists } from "../../../../shared/pages/maintain/maintain-lists.ts";
import { emptyTree, MaintainedTree, stepContext } from "../../../../shared/pages/maintain/maintained-tree.ts";
import { type CountedOwner, countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { emptyRoot } from "../../../../shared/pages/tree/root.ts";
import { commit, DamagedTreeError, readRoot, treeKey } from "../../../../shared/pages/tree/tree-store.ts";
import { expectCounted, expectLists, treeOf } from "../../../support/cases/expect-counted.ts";
import { LeadHistory } from "../../../support/cases/history.ts";
import { MemoryTable } from "../../../support/memory-table/memory-table.ts";
import { smallLimits as limits } from "../../../support/requests/small-limits.ts";
import { putLeads } from "../../../support/tables/stored.ts";
import { treeRows } from "../../../support/tables/tree-rows.ts";
import { useTable } from "../../../support/tables/watched-table.ts";

const list = { account: "acme", list: countedLists.lead };
const labelTree = { ...list, labelKey: accountPartition("lead", "acme", "a") };
const context = stepContext({ deadline: Number.POSITIVE_INFINITY, limits });

const table = useTable();
const { memory } = table;

/** A list of five rows of one source, all counted and fed. @returns their sort keys */
async function fedList(): Promise<string[]> {
  vi.spyOn(console, "error").mockReturnValue();
  const keys = putLeads(memory, "acme", 5, () => ({ source: "a" })).map(({ sk }) => String(sk));
  await commit(list, { ...emptyRoot(1), watermark: `${keys[4]}!` });
  while ((await feedLabelTrees(new MaintainedTree(list, context), true)).more);
  return keys;
}

async function empty(): Promise<void> {
  const root = await readRoot(labelTree);
  await emptyTree(new DamagedTreeError(labelTree, "A node is missing.", root), context);
}

const rowsOf = async (owner: CountedOwner) =>
  treeRows(memory.items(), owner, (await readRoot(owner)) ?? emptyRoot(1))?.map(({ start }) => start);

test("a tree is not emptied if its list was fed after the tree was found damaged", async () => {
  await fedList();
  const whole = await readRoot(list);
  const retry = async <T>(call: () => Promise<T>) => {
    const result = await call();
    // This commit comes after the root of the list was read.
    if (whole) await commit(list, whole).catch(() => {});
    return result;
  };
  const damaged = new DamagedTreeError(labelTree, "A node is missing.", await readRoot(labelTree));
  await expect(emptyTree(damaged, { retry })).rejects.toThrow("Another commit came first.");
  expect(await rowsOf(labelTree)).toHaveLength(5);
});

test("a changed row is not set in a tree that was emptied, even if a single read returns the former root of its list", async () => {
  const [, , changed = ""] = await fedList();
  const { fed = "" } = (await readRoot(list)) ?? {};
  const before = new MemoryTable();
  before.restore(memory.snapshot());
  await empty();
  const { pk } = treeKey(list, "root");
  table.shown = (command) =>
    command instanceof GetCommand && command.input.Key?.pk === pk ? before : memory;
  expect((await readRoot(list))?.fed).toBe(fed);
  await stepLabelTree(new MaintainedTree(labelTree, context), { changed: [changed] }, fed);
  expect(await readRoot(labelTree)).toMatchObject({ watermark: "", buffer: [] });
});

test("if the root of the list is also invalid, the tree of the list is emptied first", async () => {
  const keys = await fedList();
  memory.put({ ...treeKey(list, "root"), version: "x" });
  await expect(empty()).rejects.toThrow("The tree of the list was emptied first.");
  expect(await rowsOf(labelTree)).toEqual(keys);
  await empty();
  expect([await rowsOf(list), await rowsOf(labelTree)]).toEqual([[], []]);
});

test("a tree of a source that is emptied has its record again", async () => {
  await fedList();
  const key = labelTreeKey("lead", "acme", labelTree.labelKey);
  const record = await readItem(key);
  memory.delete(key);
  await empty();
  expect(record).toMatchObject({ labelKey: labelTree.labelKey });
  expect(await readItem(key)).toEqual(record);
});

test("a list that is fed again does not write a tree that already has its rows", async () => {
  await fedList();
  const before = await readRoot(labelTree);
  const { fed, ...root } = (await readRoot(list)) ?? emptyRoot(1);
  await commit(list, root);
  while ((await feedLabelTrees(new MaintainedTree(list, context), true)).more);
  expect(await readRoot(labelTree)).toEqual(before);
  expect((await readRoot(list))?.fed).toBe(fed);
});

test("a tree that is damaged after each repair is emptied ten times, and then its list is reported as unfinished", async () => {
  const logged = vi.spyOn(console, "error").mockReturnValue();
  const history = new LeadHistory();
  const [id = ""] = history.addMany(30, { age: 60_000 });
  await history.deliver(limits);
  const key = treeKey(history.owner, "root");
  history.table.before = (command) => {
    if (!(command instanceof GetCommand) || command.input.Key?.sk !== "root") return;
    history.advance(100);
    history.table.memory.put({ ...key, version: "x" });
  };
  history.setStatus(id, "qualified");
  const { owner, changes: rows } = history;
  const unfinished = await maintainLists([{ owner, rows }], { deadline: history.now + 60_000, limits });
  expect(unfinished).toMatchObject([{ owner, error: { name: "DamagedTreeError" } }]);
  const tree = { event: "counts damaged", account: history.account, list: "lead", tree: key.pk };
  const line = { ...tree, message: "The root is invalid: version." };
  expect(logged.mock.calls).toEqual(Array(10).fill([line]));
});

const sources = ["a", "b", "c", "d"];

/** Counts changes until a deadline, which takes several parts. @returns whether all is done */
async function countUntil(deadline: number, { owner, changes }: LeadHistory): Promise<boolean> {
  const batch = Array(100).fill(changes).flat();
  // Trees of sources that are emptied at once need the root of the list one after another.
  const wait = async () => {};
  const { rest, error } = await maintainList(owner, batch, { deadline, limits, wait });
  expect(error).toBeUndefined();
  // The stream redelivers the last change.
  if (rest.length > 0) expect(rest).toEqual(batch.slice(-1));
  return rest.length === 0;
}

test("a maintainer fills all damaged labels, even if its time runs out several times", async () => {
  vi.spyOn(console, "error").mockReturnValue();
  const history = new LeadHistory();
  const ids = history.addMany(60, { age: 60_000 }, (n) => ({ source: sources[n % 4] }));
  await history.deliver(limits);
  for (const id of ids.slice(0, 4)) history.setStatus(id, "booked");
  for (const source of sources.slice(1))
    history.table.memory.delete(treeKey(treeOf(history, source), "root"));
  let runs = 0;
  let rowsRead = 0;
  for (let isDone = false; !isDone; runs++) {
    history.advance(100_000);
    const deadline = history.now + 10_000;
    let reads = 0;
    history.table.before = (command) => {
      const isFilling = command instanceof QueryCommand && command.input.Limit === limits.fedRows;
      if (isFilling && ++reads === 3) vi.setSystemTime(deadline);
    };
    const { result, calls } = await history.table.watch(() => countUntil(deadline, history));
    isDone = result;
    rowsRead += calls.reduce((sum, { name, rows }) => sum + (name === "QueryCommand" ? rows : 0), 0);
    history.table.before = () => {};
    await expectLists(history, [{}, ...sources.map((source) => ({ source }))]);
  }
  expect([runs, rowsRead]).toEqual([4, 60]);
  await history.deliver(limits);
  await expectCounted(history, sources);
});
