import { setTimeout } from "node:timers/promises";
import { expect } from "vitest";
import { indexes, sublistKey, sublistPrefix } from "../../../shared/dynamodb/keys.ts";
import { fill } from "../../../shared/pages/maintain/advance-sublist.ts";
import { emptyTree } from "../../../shared/pages/maintain/empty-tree.ts";
import { maintainList } from "../../../shared/pages/maintain/maintain-list.ts";
import { type CountedOwner, cellOf, type SublistOwner } from "../../../shared/pages/tree/counted-list.ts";
import { rowEntry } from "../../../shared/pages/tree/entry.ts";
import type { Root } from "../../../shared/pages/tree/root.ts";
import { DamagedTreeError, readRoot } from "../../../shared/pages/tree/tree-store.ts";
import type { CountedWorld } from "../counted-world.ts";
import { treeRows } from "../tree-rows.ts";

/** Checks that the trees of a world's list and of its sublists have exactly the rows that they must have. */
export async function checkTrees(world: CountedWorld): Promise<void> {
  const list = await checkTree(world, world.owner);
  for (const owner of sublistOwners(world)) {
    const root = await checkTree(world, owner);
    if (!root || root.filling !== undefined) continue;
    const missing = rowsOf(world, owner).filter(({ id }) => id >= root.watermark && id < (list?.fed ?? ""));
    expect(missing, `the rows that ${owner.origin} was not fed`).toEqual([]);
  }
}

/** The sublists of a world that have trees. */
function sublistOwners({ kind, account, owner, table }: CountedWorld): SublistOwner[] {
  const { pk } = sublistKey(kind.list.type, account, "");
  return [...table.memory.items()]
    .filter((item) => item.pk === pk && String(item.sk).startsWith(sublistPrefix))
    .map(({ origin }) => ({ ...owner, origin: String(origin) }));
}

const rowsOf = ({ kind, account, expected }: CountedWorld, { origin }: CountedOwner) =>
  [...expected.rows.values()]
    .filter((row) => origin === undefined || kind.toItem(account, row)[indexes["by-origin"]] === origin)
    .sort((a, b) => (a.id < b.id ? -1 : 1));

/** Checks that a tree has exactly the rows before its watermark; a damaged one is first counted again. */
async function checkTree(world: CountedWorld, owner: CountedOwner): Promise<Root | undefined> {
  let root = await readRoot(owner);
  let entries = root && (await treeRows(owner, root));
  if (root && !entries) {
    await recount(world, owner, root);
    root = await readRoot(owner);
    entries = root && (await treeRows(owner, root));
  }
  if (!root) return undefined;
  const counted = rowsOf(world, owner).filter(({ id }) => id < (root?.watermark ?? ""));
  const expected = counted.map(({ id, status }) => rowEntry(id, cellOf(owner.list, status)));
  const found = entries;
  expect(found, `the tree of ${owner.origin ?? "the list"}`).toEqual(expected);
  return root;
}

/** Counts a tree again, as after a damage. */
async function recount(
  { owner: list, limits }: CountedWorld,
  owner: CountedOwner,
  root: Root | undefined,
): Promise<void> {
  const means = { limits, retry: <T>(call: () => Promise<T>) => call() };
  await emptyTree(new DamagedTreeError(owner, "damaged by the test", root), means);
  const { origin } = owner;
  if (origin !== undefined) while (await fill({ ...owner, origin }, means));
  else await maintainList(list, [], { limits, deadline: Number.POSITIVE_INFINITY, wait: setTimeout });
}
