import { isDeepStrictEqual } from "node:util";
import { NumberValue } from "@aws-sdk/lib-dynamodb";
import { type IndexName, indexes } from "../../../shared/dynamodb/keys.ts";
import type { Item, Key } from "../../../shared/dynamodb/table-client.ts";
import { itemSize } from "./item-size.ts";
import { isAt, Partitions, type Row } from "./partitions.ts";

/** A change of an item, as in the stream of the table. */
export interface Change {
  readonly before: Item | undefined;
  readonly after: Item | undefined;
}

/** The most bytes of an item. */
const largestItem = 400 * 1024;

const indexNames = Object.keys(indexes) as IndexName[];

/** The bytes of a write unit. */
const writeUnit = 1024;

const units = (...sizes: readonly number[]) => Math.max(1, Math.ceil(Math.max(...sizes) / writeUnit));

type AllPartitions = ReadonlyMap<IndexName | undefined, Partitions>;

const copy = (all: AllPartitions): AllPartitions =>
  new Map(Array.from(all, ([name, partitions]) => [name, partitions.copy()]));

/** The items of a table, in its partitions and in the partitions of its indexes, which copy some attributes. */
export class StoredItems {
  onChange: ((change: Change) => void) | undefined;
  /** The partitions of the table are `undefined`'s. */
  #partitions: AllPartitions = new Map([undefined, ...indexNames].map((name) => [name, new Partitions()]));

  /** The rows of the table, or of an index. */
  in(index: IndexName | undefined): Partitions {
    const partitions = this.#partitions.get(index);
    if (!partitions) throw new Error(`The table has no index ${index}.`);
    return partitions;
  }

  /** @throws ValidationException for an invalid key */
  find({ pk, sk }: Key): Row | undefined {
    if (!isKey(pk, 2048) || !isKey(sk, 1024)) throw validationError("The key is not valid.");
    return this.in(undefined).find(pk, { pk, sk });
  }

  /** Replaces or deletes an item. @returns the write units; in a transaction, the units of the table count twice */
  replace({ pk, sk }: Key, item: Item | undefined, transaction = false): number {
    const before = this.find({ pk, sk });
    const after = item && toRow({ pk, sk }, item);
    if (after) this.in(undefined).put(pk, after);
    else this.in(undefined).delete(pk, { pk, sk });
    const changed = !isDeepStrictEqual(before?.item, after?.item);
    let used = units(before?.size ?? 0, after?.size ?? 0) * (transaction ? 2 : 1);
    if (!changed) return used;
    for (const index of indexNames) used += this.#replaceInIndex(index, before, after);
    this.onChange?.({ before: before?.item, after: after?.item });
    return used;
  }

  /** A copy that `restore` brings back: cheap for a small table. */
  snapshot = () => copy(this.#partitions);

  restore(snapshot: AllPartitions): void {
    this.#partitions = copy(snapshot);
  }

  #replaceInIndex(index: IndexName, before: Row | undefined, after: Row | undefined): number {
    const partitions = this.in(index);
    const [from, to] = [toIndexed(index, before), toIndexed(index, after)];
    if (isDeepStrictEqual(from, to)) return 0;
    const stays = from && to && from.partition === to.partition && isAt(from.row, to.row);
    if (from && !stays) partitions.delete(from.partition, from.row);
    if (to) partitions.put(to.partition, to.row);
    const left = from && !stays ? units(from.row.size) : 0;
    return left + (to ? units(stays ? from.row.size : 0, to.row.size) : 0);
  }
}

/** The row of an index for a row of the table, and its partition; undefined if the row lacks a key of the index. */
function toIndexed(index: IndexName, row: Row | undefined) {
  const keys = indexes[index];
  const [partition, sort] = [row?.item[keys.partition], row?.item[keys.sort]];
  if (!row || partition === undefined || sort === undefined) return undefined;
  const names = ["pk", "sk", keys.partition, keys.sort, ...keys.copies].filter(
    (name) => row.item[name] !== undefined,
  );
  const item = Object.freeze(Object.fromEntries(names.map((name) => [name, row.item[name]])));
  // Rows with equal sort keys in an index by time are in the order of their own sort keys.
  const position = keys.sort === "sk" ? { pk: row.pk, sk: row.sk } : { pk: row.sk, sk: String(sort) };
  return { partition: String(partition), row: { ...position, item, size: itemSize(item) } };
}

function toRow({ pk, sk }: Key, item: Item): Row {
  if (pk === "" || sk === "") throw validationError("The item has no valid key.");
  const copy = toFrozen(item) as Item;
  const size = itemSize(copy);
  if (size > largestItem) throw validationError("The item is too large.");
  return { pk, sk, item: copy, size };
}

const asTheyAre = [Uint8Array, Set, NumberValue];

const isKey = (value: unknown, bytes: number) =>
  typeof value === "string" && Buffer.byteLength(value) <= bytes;

/** A frozen copy without undefined attributes. Bytes, sets and large numbers stay as they are. */
function toFrozen(value: unknown): unknown {
  if (typeof value !== "object" || value === null || asTheyAre.some((kind) => value instanceof kind))
    return value;
  if (Array.isArray(value)) return Object.freeze(value.map(toFrozen));
  const copy: Record<string, unknown> = {};
  for (const [name, attribute] of Object.entries(value)) {
    if (attribute !== undefined) copy[name] = toFrozen(attribute);
  }
  return Object.freeze(copy);
}

/** Checks that a command of several items has no item twice, and not too many items. @throws ValidationException */
export function checkKeys(keys: readonly Key[], most = 100): void {
  const different = new Set(keys.map(({ pk, sk }) => JSON.stringify([pk, sk])));
  if (different.size < keys.length) throw validationError("A command has an item twice.");
  if (keys.length > most) throw validationError("A command has too many items.");
}

/** The error of a command that DynamoDB does not accept. */
export const validationError = (message: string) =>
  Object.assign(new Error(message), { name: "ValidationException" });
