import { GetCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, test, vi } from "vitest";
import { nodePrefix } from "../../../../shared/dynamodb/keys.ts";
import type { Item } from "../../../../shared/dynamodb/table-client.ts";
import { maintainLists } from "../../../../shared/pages/maintain/maintain-lists.ts";
import type { CountedOwner } from "../../../../shared/pages/tree/counted-list.ts";
import { decodeEntries, encodeEntries } from "../../../../shared/pages/tree/entry.ts";
import { readRoot, treeKey } from "../../../../shared/pages/tree/tree-store.ts";
import { expectCounted, expectLists, treeOf } from "../../../support/expect-counted.ts";
import { LeadHistory } from "../../../support/history.ts";
import { smallLimits } from "../../../support/small-limits.ts";
import type { WatchedTable } from "../../../support/watched-table.ts";

const source = "web";
const filters = [{}, { status: "booked" }, { source }, { source, status: "new" }] as const;
const requests = [1, 3, 9].map((page) => ({ page, limit: 7 }));
const limits = { ...smallLimits, nodeRows: 12, nodeEntries: 3 };

let history: LeadHistory;
let logged: ReturnType<typeof vi.spyOn>;

/** An account with two sources, whose leads are counted. */
async function countedHistory(table?: WatchedTable): Promise<LeadHistory> {
  const history = new LeadHistory(table);
  for (let i = 0; i < 64; i++)
    history.add({
      age: 60_000 - 100 * i,
      source: i % 4 === 0 ? "rare" : source,
      status: i % 3 === 0 ? "booked" : "new",
    });
  await history.deliver(limits);
  history.advance(100_000);
  return history;
}

beforeEach(async () => {
  history = await countedHistory();
  logged = vi.spyOn(console, "error").mockReturnValue();
});

const itemsOf = (owner: CountedOwner): Item[] => {
  const { pk } = treeKey(owner, "");
  return [...history.table.memory.items()].filter((item) => item.pk === pk);
};
const nodesOf = (owner: CountedOwner) => itemsOf(owner).filter(({ sk }) => String(sk).startsWith(nodePrefix));

/** The node of a level with the oldest row. */
function oldestNode(owner: CountedOwner, level: number): Item {
  const node = nodesOf(owner).find(({ sk }) => String(sk).includes(`#${level}#`));
  if (!node) throw new Error(`There is no node of level ${level}.`);
  return node;
}
const loseNode = (level: number) => (owner: CountedOwner) =>
  history.table.memory.delete(oldestNode(owner, level));
function loseRow(owner: CountedOwner): void {
  const node = oldestNode(owner, 1);
  history.table.memory.put({ ...node, entries: encodeEntries(decodeEntries(node.entries)?.slice(1) ?? []) });
}

test.each<[string, string | undefined, (owner: CountedOwner) => void]>([
  ["a list that lost a node of rows", undefined, loseNode(1)],
  ["a list that lost a node of sums", undefined, loseNode(2)],
  ["a list with a node that lost a row", undefined, loseRow],
  ["a source that lost a node", source, loseNode(1)],
  ["a source with a node that lost a row", source, loseRow],
  [
    "a source that lost its root",
    source,
    (owner) => history.table.memory.delete({ ...treeKey(owner, "root") }),
  ],
])("%s stays exact, and its tree is counted again with the next batch, which counts all other lists", async (_, damaged, damage) => {
  const owner = treeOf(history, damaged);
  const before = await readRoot(owner);
  damage(owner);
  await expectLists(history, filters, requests);
  const all = [await countedHistory(history.table), history];
  for (const some of all) some.setStatus([...some.rows.keys()][1] ?? "", "qualified");
  logged.mockClear();
  vi.setSystemTime(history.now);
  const changes = all.map(({ owner, changes }) => ({ owner, rows: changes }));
  const wait = async (milliseconds: number) => history.advance(milliseconds);
  const { calls, result } = await history.table.watch(() =>
    maintainLists(changes, { deadline: history.now + 60_000, limits, wait }),
  );
  expect(result).toEqual([]);
  expect(calls.length).toBeLessThan(200);
  const line = {
    event: "counts damaged",
    account: history.account,
    list: "lead",
    tree: treeKey(owner, "").pk,
  };
  expect(logged.mock.calls).toEqual([[{ ...line, message: expect.any(String) }]]);
  logged.mockClear();
  for (const some of all) {
    await expectCounted(some, [source, "rare"]);
    await expectLists(some, filters, requests);
  }
  expect((await readRoot(owner))?.generation).toBeGreaterThan(before?.generation ?? 0);
  expect(logged).not.toHaveBeenCalled();
});

test("a tree that is damaged each time is emptied ten times, and then its list is reported", async () => {
  const key = treeKey(history.owner, "root");
  history.table.before = (command) => {
    if (!(command instanceof GetCommand) || command.input.Key?.sk !== "root") return;
    history.advance(100);
    history.table.memory.put({ ...key, version: "x" });
  };
  history.setStatus([...history.rows.keys()][1] ?? "", "qualified");
  const { owner, changes: rows } = history;
  const unfinished = await maintainLists([{ owner, rows }], { deadline: history.now + 60_000, limits });
  expect(unfinished).toMatchObject([{ owner, error: { name: "DamagedTreeError" } }]);
  expect(logged).toHaveBeenCalledTimes(10);
});
