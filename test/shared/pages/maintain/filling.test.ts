import { beforeEach, expect, test, vi } from "vitest";
import { sourceOrChannelPartition } from "../../../../shared/dynamodb/keys.ts";
import { table } from "../../../../shared/dynamodb/table-client.ts";
import { feedSourceTrees } from "../../../../shared/pages/maintain/feed-source-trees.ts";
import { MaintainedTree, stepMeans } from "../../../../shared/pages/maintain/maintained-tree.ts";
import { stepFilling } from "../../../../shared/pages/maintain/sublist-step.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { emptyRoot } from "../../../../shared/pages/tree/root.ts";
import { commit, readRoot, treeKey } from "../../../../shared/pages/tree/tree-store.ts";
import { keyedItems } from "../../../support/keyed-items.ts";
import { putLeads, useMemoryTable } from "../../../support/memory-leads.ts";
import type { MemoryTable } from "../../../support/memory-table.ts";
import { smallLimits as limits } from "../../../support/small-limits.ts";
import { treeRows } from "../../../support/tree-rows.ts";

const list = { account: "acme", list: countedLists.lead };
const sublist = { ...list, origin: sourceOrChannelPartition("lead", "acme", "a") };
const means = stepMeans({ deadline: Number.POSITIVE_INFINITY, limits });

const fill = () => stepFilling(new MaintainedTree(list, means), [new MaintainedTree(sublist, means)]);

let memory: MemoryTable;
beforeEach(() => {
  memory = useMemoryTable();
});

test("filling reads the list after the sublist: a row that moved meanwhile would be past what it fills", async () => {
  await commit(list, emptyRoot(1));
  await commit(sublist, { ...emptyRoot(1), filling: "lead_0" });
  const send = vi.mocked(table.send);
  send.mockClear();
  expect(await fill()).toMatchObject({ more: false });
  const read = send.mock.calls.flatMap(([command]) => keyedItems(command));
  expect(read.slice(0, 2)).toEqual([sublist, list].map((tree) => `${treeKey(tree, "root").pk} root`));
});

test.each([
  ["the list has fed, if that is further", 0, 4],
  ["it was to go, if that is further", 4, 0],
])("filling goes as far as %s", async (_, filling, fed) => {
  const keys = putLeads(memory, "acme", 5, () => ({ source: "a" })).map(({ sk }) => String(sk));
  await commit(list, { ...emptyRoot(1), watermark: keys[4] ?? "", fed: keys[fed] });
  await commit(sublist, { ...emptyRoot(1), filling: keys[filling] });
  expect(await fill()).toMatchObject({ more: false });
  const root = (await readRoot(sublist)) ?? emptyRoot(1);
  expect([root.watermark, root.filling]).toEqual([keys[4], undefined]);
  expect((await treeRows(sublist, root))?.map(({ start }) => start)).toEqual(keys.slice(0, 4));
});

test("a feed raises how far a tree that is filled goes, and sets no row in it", async () => {
  const keys = putLeads(memory, "acme", 5, () => ({ source: "a" })).map(({ sk }) => String(sk));
  const end = `${keys[4]}!`;
  await commit(list, { ...emptyRoot(1), watermark: end, unfed: 5 });
  await commit(sublist, { ...emptyRoot(1), filling: keys[0] });
  const { more, filling } = await feedSourceTrees(new MaintainedTree(list, means));
  expect([more, filling.map(({ owner }) => owner)]).toEqual([false, [sublist]]);
  expect(await readRoot(sublist)).toMatchObject({ filling: end, watermark: "", last: [] });
});
