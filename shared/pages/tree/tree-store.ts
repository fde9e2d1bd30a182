import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { PutCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { classify } from "../../dynamodb/dynamodb-errors.ts";
import { countNodeKey, labelTreeKey, labelTreePrefix, nodeName } from "../../dynamodb/keys.ts";
import { withPrefix } from "../../dynamodb/read-pages.ts";
import {
  type Item,
  isAsRead,
  type Key,
  type ReadOptions,
  readItem,
  readTogether,
  table,
  tableName,
} from "../../dynamodb/table-client.ts";
import { InvalidItemError } from "../../errors.ts";
import * as logEvents from "../../logging/log-events.ts";
import type { CountedOwner } from "./counted-list.ts";
import { type Entry, encodeEntries, type Place } from "./entry.ts";
import { type Root, rootItem } from "./root.ts";
import { validEntries, validRoot } from "./valid-tree.ts";

/** A node of a tree: rows (level 1), or the sums of nodes one level down. */
export interface Node {
  readonly level: number;
  readonly start: string;
  readonly entries: readonly Entry[];
}

/** Thrown when another commit came first: everything that was read before that commit is out of date. */
export class TreeChangedError extends Error {
  override readonly name = "TreeChangedError";
}

/** Thrown when a root or a node is missing although no commit came first, or when no maintainer can have stored its item. */
export class DamagedTreeError extends Error {
  override readonly name = "DamagedTreeError";
  readonly owner: CountedOwner;
  /** The root as it was read; undefined when it is missing or invalid. */
  readonly root: Root | undefined;
  /** The item of an invalid root. */
  readonly invalid: Item | undefined;
  /** The sort key where a damaged node begins: a change at that key leads a maintainer to the node. */
  readonly at: string;

  constructor(owner: CountedOwner, message: string, root?: Root, invalid?: Item, at = "") {
    super(message);
    this.owner = owner;
    this.root = root;
    this.invalid = invalid;
    this.at = at;
  }
}

/** Logs that a tree is damaged. */
export function logDamage({ owner, message }: DamagedTreeError): void {
  const { account, list } = owner;
  const tree = treeKey(owner, "").pk;
  console.error({ event: logEvents.countsDamaged, account, list: list.type, tree, message });
}

/** Makes a call: within the budget of a list, or with retries while the table is busy. */
type Send = <T>(call: (options?: ReadOptions) => Promise<T>) => Promise<T>;

/** Reads the root of a tree, if there is one. @throws DamagedTreeError when it is invalid */
export const readRoot = async (owner: CountedOwner, options?: ReadOptions): Promise<Root | undefined> =>
  toRoot(owner, await readItem(treeKey(owner, rootName), {}, options));

function toRoot(owner: CountedOwner, item: Item | undefined): Root | undefined {
  try {
    return item && validRoot(owner, item);
  } catch (error) {
    if (!(error instanceof InvalidItemError)) throw error;
    throw new DamagedTreeError(owner, `The root is invalid: ${error.field}.`, undefined, item);
  }
}

/** Reads the root of a tree; undefined when it is missing or invalid. */
export const readValidRoot = (owner: CountedOwner, options?: ReadOptions): Promise<Root | undefined> =>
  readRoot(owner, options).catch((error: unknown) => {
    if (!(error instanceof DamagedTreeError)) throw error;
    return undefined;
  });

/**
 * Reads the entries of a node. Nodes are read only by their keys: a Query may show half a transaction. During a commit,
 * single reads may show the root after the commit, and then the node before it. So a node that does not match the entry
 * above it is read again, together with the root.
 *
 * @param isChanged whether the node is read to be changed: then it is always read together with the root, because an older
 *   version of the node can have the same sums
 * @throws DamagedTreeError when the node is missing, or does not match the entry above it
 * @throws TreeChangedError when the node is read together with the root, and another commit has come first
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-isolation
 */
export async function readNode(
  owner: CountedOwner,
  root: Root,
  level: number,
  place: Place,
  send: Send,
  isChanged = false,
): Promise<readonly Entry[]> {
  const key = treeKey(owner, nodeName(root.generation, level, place.entry.start));
  if (!isChanged) {
    const item = await send((options) => readItem(key, {}, options));
    const entries = validEntries(owner.list, item, level, place);
    if (entries) return entries;
  }
  const node = await readWithRoot(owner, root, key, send);
  const entries = validEntries(owner.list, node, level, place);
  if (entries) return entries;
  const message = `The node ${place.entry.start} of level ${level} is missing, or not what its entry says.`;
  throw new DamagedTreeError(owner, message, root, undefined, place.entry.start);
}

/**
 * Reads `fed` of a list together with the root of a label's tree. Single reads during the transaction that empties this tree
 * may show the label's root after the transaction, and then the list's root before it.
 *
 * @throws TreeChangedError when the root has changed
 */
export async function readFed(owner: CountedOwner, root: Root, send: Send): Promise<string> {
  const whole = { account: owner.account, list: owner.list };
  return toRoot(whole, await readWithRoot(owner, root, treeKey(whole, rootName), send))?.fed ?? "";
}

/** Reads an item together with the root of a tree, at one moment. @throws TreeChangedError when the root has changed */
async function readWithRoot(owner: CountedOwner, root: Root, key: Key, send: Send) {
  const keys = [treeKey(owner, rootName), key];
  const [now, item] = await send((options) => readTogether(keys, options)).catch(throwChanged);
  if ((now?.version ?? 0) !== root.version) throw new TreeChangedError("The tree has changed.");
  return item;
}

const rootName = "root";

/** The key of an item of a tree. */
export const treeKey = ({ account, list, labelKey }: CountedOwner, name: string) =>
  countNodeKey(list.type, account, name, labelKey);

/** Selects the records of the labels of a list that have trees. */
export const labelTreeRecords = (list: CountedOwner) =>
  withPrefix(treeKey(list, "").pk, `${labelTreePrefix}#`);

/**
 * Replaces the root if it still has the version that was read, and writes nodes with it, all or nothing. The first root of a
 * label comes with a record, which distinguishes a new label from one whose root is missing.
 *
 * @returns the root as it is now
 * @throws TreeChangedError when the root has another version
 * @throws DamagedTreeError when a label has a record, but no root
 */
export async function commit(owner: CountedOwner, root: Root, nodes: readonly Node[] = []): Promise<Root> {
  const record = root.version === 0 && owner.labelKey !== undefined ? [putRecord(owner, isAbsent)] : [];
  const puts = [putRoot(owner, root), ...record, ...nodes.map((node) => putNode(owner, root, node))];
  await write(puts).catch((error: unknown) => {
    throw isTreeChanged(error) && isRecordLeft(error.cause)
      ? new DamagedTreeError(owner, "The root is missing.")
      : error;
  });
  return raised(root);
}

/**
 * Replaces the root of a damaged tree, and for the tree of a label also the root of the list, all or nothing.
 *
 * @throws TreeChangedError when a root has another version
 */
export async function replaceDamaged({ owner, invalid }: DamagedTreeError, root: Root, listRoot?: Root) {
  const puts = [putRoot(owner, root, invalid?.version)];
  // The record may still exist.
  if (listRoot) puts.push(putRecord(owner), putRoot({ ...owner, labelKey: undefined }, listRoot));
  await write(puts);
}

/** Writes items, all or nothing. @throws TreeChangedError when another commit came first */
async function write(puts: readonly ReturnType<typeof putItem>[]): Promise<void> {
  const [first, ...others] = puts;
  const writing =
    first && others.length === 0
      ? table.send(new PutCommand(first.Put))
      : table.send(new TransactWriteCommand({ TransactItems: [...puts] }));
  await writing.catch(throwChanged);
}

function throwChanged(error: unknown): never {
  if (classify(error) !== "conflict") throw error;
  throw new TreeChangedError("Another commit came first.", { cause: error });
}

/** Whether the condition of the record failed, but not that of the root. */
const isRecordLeft = (error: unknown) =>
  error instanceof TransactionCanceledException &&
  error.CancellationReasons?.[0]?.Code === "None" &&
  error.CancellationReasons[1]?.Code === "ConditionalCheckFailed";

const raised = (root: Root): Root => ({
  ...root,
  version: root.version === 0 ? root.generation : root.version + 1,
});

const isAbsent = isAsRead("pk", undefined);

const putItem = (Item: object, condition?: object) => ({
  Put: { TableName: tableName, Item: { ...Item }, ...condition },
});

/** @param version the version of the item as it was read; undefined if there was no item */
const putRoot = (owner: CountedOwner, root: Root, version: unknown = root.version || undefined) =>
  putItem({ ...treeKey(owner, rootName), ...rootItem(raised(root)) }, isAsRead("version", version));

const putRecord = ({ account, list, labelKey = "" }: CountedOwner, condition?: object) =>
  putItem({ ...labelTreeKey(list.type, account, labelKey), labelKey }, condition);

const putNode = (owner: CountedOwner, { generation }: Root, { level, start, entries }: Node) =>
  putItem({ ...treeKey(owner, nodeName(generation, level, start)), entries: encodeEntries(entries) });

/** Whether the caller must start again from the root. */
export const isTreeChanged = (error: unknown) => error instanceof TreeChangedError;
