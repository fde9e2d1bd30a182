import { TransactWriteCommand, type TransactWriteCommandInput } from "@aws-sdk/lib-dynamodb";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import type { CountedOwner } from "../../../shared/pages/tree/counted-list.ts";
import { emptyRoot, type Root, rootItem } from "../../../shared/pages/tree/root.ts";
import type { Statuses } from "../../../shared/pages/tree/statuses.ts";
import {
  orTreeChanged,
  type RootName,
  readRoot,
  treeKey,
  versionIs,
} from "../../../shared/pages/tree/tree-store.ts";
import { tableTime } from "../common/table-clock.ts";

/** The live tree, and the tree of a rebuild that has not ended, which maintainers have kept up to date. */
export async function readRebuild(owner: CountedOwner) {
  // In this order: a rebuild that ends in between is not taken for one whose tree is missing.
  const found = await readRoot(owner, "next");
  const live = await readRoot(owner);
  return { live, next: found?.generation === live?.rebuilding ? found : undefined, found };
}

/**
 * Writes an empty tree, which maintainers keep up to date from now on.
 *
 * @param abandoned the tree of an earlier rebuild, which the new one replaces
 * @returns the generation of the new tree
 * @throws TreeChangedError when another commit came first
 */
export async function startRebuild(
  owner: CountedOwner,
  live: Root,
  abandoned: Root | undefined,
  statuses: Statuses,
): Promise<number> {
  const generation = Math.max(live.generation, abandoned?.generation ?? 0) + 1;
  const version = Math.max(live.version, abandoned?.version ?? 0) + 1;
  const next = { ...emptyRoot(generation, statuses), version, progressAt: tableTime() };
  await writeRoots([
    putRoot(owner, "root", { ...live, version: live.version + 1, rebuilding: generation }, live.version),
    putRoot(owner, "next", next, abandoned?.version ?? 0),
  ]);
  return generation;
}

/** Replaces the live tree by the new one. @throws TreeChangedError when another commit came first */
export async function finishRebuild(owner: CountedOwner, live: Root, grown: Root): Promise<void> {
  const version = Math.max(live.version, grown.version) + 1;
  const Key = treeKey(owner, "next");
  await writeRoots([
    putRoot(
      owner,
      "root",
      { ...grown, version, progressAt: undefined, backdatedAt: live.backdatedAt },
      live.version,
    ),
    { Delete: { TableName: tableName, Key, ...versionIs(grown.version) } },
  ]);
}

/** Writes a root over the version that was read. */
const putRoot = (owner: CountedOwner, name: RootName, root: Root, over: number) => ({
  Put: { TableName: tableName, Item: { ...treeKey(owner, name), ...rootItem(root) }, ...versionIs(over) },
});

/** Writes both roots, all or nothing. */
const writeRoots = (items: TransactWriteCommandInput["TransactItems"]) =>
  orTreeChanged(table.send(new TransactWriteCommand({ TransactItems: items })));
