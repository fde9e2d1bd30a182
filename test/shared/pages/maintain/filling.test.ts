import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, test, vi } from "vitest";
import { TooExpensiveError } from "../../../../shared/dynamodb/dynamodb-errors.ts";
import { sourceOrChannelPartition } from "../../../../shared/dynamodb/keys.ts";
import { table } from "../../../../shared/dynamodb/table-client.ts";
import { repair } from "../../../../shared/pages/audit/repair.ts";
import { feedSourceTrees } from "../../../../shared/pages/maintain/feed-source-trees.ts";
import { maintainList } from "../../../../shared/pages/maintain/maintain-list.ts";
import { MaintainedTree, stepMeans } from "../../../../shared/pages/maintain/maintained-tree.ts";
import { stepFilling } from "../../../../shared/pages/maintain/sublist-step.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { emptyRoot } from "../../../../shared/pages/tree/root.ts";
import { commit, DamagedTreeError, readRoot, treeKey } from "../../../../shared/pages/tree/tree-store.ts";
import { expectCounted, expectLists, treeOf } from "../../../support/expect-counted.ts";
import { LeadHistory } from "../../../support/history.ts";
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

const sources = ["a", "b", "c", "d"];

/** Waits between attempts: alone, no commit fails. */
const wait = () => expect.unreachable("A commit has failed.");

/** What fills trees until a deadline. @returns whether all is done */
const fillers: Readonly<Record<string, (history: LeadHistory, deadline: number) => Promise<boolean>>> = {
  "a maintainer": async ({ owner, changes }, deadline) => {
    // So many that they are counted in several parts, in each of which the sublists have some.
    const batch = Array(100).fill(changes).flat();
    const { rest, error } = await maintainList(owner, batch, { deadline, limits, wait });
    expect(error).toBeUndefined();
    // The stream delivers all of them again.
    if (rest.length > 0) expect(rest).toEqual(batch);
    return rest.length === 0;
  },
  "a repair": async (history, deadline) => {
    const findings = sources.slice(1).map((source) => {
      const owner = treeOf(history, source);
      const damage = new DamagedTreeError(owner, "The root is missing.");
      return { owner, differences: [], damage };
    });
    try {
      await repair(history.owner, findings, { deadline, limits, wait });
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(TooExpensiveError);
      return false;
    }
  },
};

test.each(
  Object.entries(fillers),
)("%s fills all damaged sublists from one reading of the list, also when it ends again and again", async (_, fillUntil) => {
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
    const { result, calls } = await history.table.watch(() => fillUntil(history, deadline));
    isDone = result;
    rowsRead += calls.reduce((sum, { name, rows }) => sum + (name === "QueryCommand" ? rows : 0), 0);
    history.table.before = () => {};
    await expectLists(history, [{}, ...sources.map((source) => ({ source }))]);
  }
  expect([runs, rowsRead]).toEqual([4, 60]);
  await history.deliver(limits);
  await expectCounted(history, sources);
});
