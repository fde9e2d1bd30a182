import { ConditionalCheckFailedException, TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { PutCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { countNodeKey, nodeName } from "../../dynamodb/keys.ts";
import { readItem, table, tableName } from "../../dynamodb/table-client.ts";
import type { CountedList } from "./counted-list.ts";
import { decodeEntries, type Entry, encodeEntries } from "./entry.ts";
import { type Root, rootItem, toRoot } from "./root.ts";

/** A list of an account, whose rows a tree counts. */
export interface CountedOwner {
  readonly account: string;
  readonly list: CountedList;
}

/** The tree that lists read, or the one that a rebuild makes. */
export type RootName = "root" | "next";

/** A node of a tree: the entries of leaves (level 1) or of nodes one level down. */
export interface Node {
  readonly level: number;
  readonly start: string;
  readonly entries: readonly Entry[];
}

/** Thrown when another commit came first: all that was read for this one is out of date. */
export class TreeChangedError extends Error {
  override readonly name = "TreeChangedError";
}

export async function readRoot(owner: CountedOwner, name: RootName = "root"): Promise<Root | undefined> {
  const item = await readTreeItem(owner, name);
  return item && toRoot(item as ReturnType<typeof rootItem>);
}

/** The entries of a node; undefined when there is no such node. */
export async function readNode(
  owner: CountedOwner,
  generation: number,
  level: number,
  start: string,
): Promise<Entry[] | undefined> {
  const item = await readTreeItem(owner, nodeName(generation, level, start));
  return item && decodeEntries(item.entries as Uint8Array);
}

/** Nodes are read by GetItem alone: a Query may show half a transaction. */
const readTreeItem = ({ account, list }: CountedOwner, name: string) =>
  readItem(countNodeKey(list.type, account, name));

/**
 * Writes a root over the one of the version that was read, and nodes with it, all or nothing.
 *
 * @throws TreeChangedError when the root has another version by now
 */
export async function commit(
  { account, list }: CountedOwner,
  name: RootName,
  root: Root,
  nodes: readonly Node[],
): Promise<void> {
  const key = (sk: string) => countNodeKey(list.type, account, sk);
  const putRoot = {
    TableName: tableName,
    Item: { ...key(name), ...rootItem({ ...root, version: root.version + 1 }) },
    ...versionIs(root.version),
  };
  const putNodes = nodes.map(({ level, start, entries }) => ({
    Put: {
      TableName: tableName,
      Item: { ...key(nodeName(root.generation, level, start)), entries: encodeEntries(entries) },
    },
  }));
  await orTreeChanged(
    nodes.length === 0
      ? table.send(new PutCommand(putRoot))
      : table.send(new TransactWriteCommand({ TransactItems: [{ Put: putRoot }, ...putNodes] })),
  );
}

/** The condition that a root still has the version that was read; version 0 is that of a root that is not there. */
export const versionIs = (version: number) =>
  version === 0
    ? { ConditionExpression: "attribute_not_exists(pk)" }
    : { ConditionExpression: "version = :version", ExpressionAttributeValues: { ":version": version } };

/** Turns the failure of a write that met another commit into a `TreeChangedError`. */
export async function orTreeChanged(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException || isConflict(error)) {
      throw new TreeChangedError("Another commit came first.", { cause: error });
    }
    throw error;
  }
}

const conflicts = new Set(["ConditionalCheckFailed", "TransactionConflict"]);

function isConflict(error: unknown): boolean {
  if (error instanceof TransactionCanceledException) {
    return (error.CancellationReasons ?? []).some(({ Code }) => Code !== undefined && conflicts.has(Code));
  }
  return error instanceof Error && error.name === "TransactionConflictException";
}
