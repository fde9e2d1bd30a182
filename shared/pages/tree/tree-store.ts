import { PutCommand, TransactWriteCommand, type TransactWriteCommandInput } from "@aws-sdk/lib-dynamodb";
import { isWriteConflict } from "../../dynamodb/dynamodb-errors.ts";
import { countNodeKey, nodeName } from "../../dynamodb/keys.ts";
import { readItem, table, tableName } from "../../dynamodb/table-client.ts";
import type { CountedOwner } from "./counted-list.ts";
import { decodeEntries, type Entry, encodeEntries } from "./entry.ts";
import { type Root, rootItem, toRoot } from "./root.ts";

/** The tree that lists read, or the one that a rebuild builds. */
export type RootName = "root" | "next";

/** A node of a tree: the entries for leaves (level 1) or for nodes one level down. */
export interface Node {
  readonly level: number;
  readonly start: string;
  readonly entries: readonly Entry[];
}

/** Thrown when another commit came first: everything that was read for this one is out of date. */
export class TreeChangedError extends Error {
  override readonly name = "TreeChangedError";
}

/** How a call is made. */
interface CallOptions {
  readonly abortSignal?: AbortSignal;
}

export async function readRoot(
  owner: CountedOwner,
  name: RootName = "root",
  options?: CallOptions,
): Promise<Root | undefined> {
  const item = await readTreeItem(owner, name, options);
  return item && toRoot(item as ReturnType<typeof rootItem>);
}

/** The entries of a node; undefined when there is no such node. */
export async function readNode(
  owner: CountedOwner,
  generation: number,
  level: number,
  start: string,
  options?: CallOptions,
): Promise<Entry[] | undefined> {
  const item = await readTreeItem(owner, nodeName(generation, level, start), options);
  return item && decodeEntries(item.entries as Uint8Array);
}

/** Nodes are read only by GetItem: a Query may show half a transaction. */
const readTreeItem = (owner: CountedOwner, name: string, options?: CallOptions) =>
  readItem(treeKey(owner, name), {}, options);

/** The key of an item of a tree. */
export const treeKey = ({ account, list, sublist }: CountedOwner, name: string) =>
  countNodeKey(list.type, account, name, sublist);

/**
 * Replaces the root of the version that was read, and writes nodes and other items with it, all or nothing.
 *
 * @throws TreeChangedError when the root has another version
 */
export async function commit(
  owner: CountedOwner,
  name: RootName,
  root: Root,
  nodes: readonly Node[],
  others: TransactWriteCommandInput["TransactItems"] = [],
): Promise<void> {
  const { version, generation } = root;
  const next = version === 0 ? generation : version + 1;
  const Item = { ...treeKey(owner, name), ...rootItem({ ...root, version: next }) };
  const put = { TableName: tableName, Item, ...versionIs(version) };
  const items = [...nodes.map((node) => putNode(owner, root, node)), ...others];
  await orTreeChanged(
    items.length === 0
      ? table.send(new PutCommand(put))
      : table.send(new TransactWriteCommand({ TransactItems: [{ Put: put }, ...items] })),
  );
}

const putNode = (owner: CountedOwner, { generation }: Root, { level, start, entries }: Node) => ({
  Put: {
    TableName: tableName,
    Item: { ...treeKey(owner, nodeName(generation, level, start)), entries: encodeEntries(entries) },
  },
});

/** The condition that a root has the version that was read; a missing root has version 0. */
export const versionIs = (version: number) =>
  version === 0
    ? { ConditionExpression: "attribute_not_exists(pk)" }
    : { ConditionExpression: "version = :version", ExpressionAttributeValues: { ":version": version } };

/** Turns the conflict of a write with another commit into a `TreeChangedError`. */
export async function orTreeChanged(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    throw isWriteConflict(error)
      ? new TreeChangedError("Another commit came first.", { cause: error })
      : error;
  }
}

/** Whether to start again from the root. */
export const isTreeChanged = (error: unknown) => error instanceof TreeChangedError;
