import { isCount, optional, readFields } from "../../dynamodb/invalid-items.ts";
import type { Item } from "../../dynamodb/table-client.ts";
import { InvalidItemError } from "../../errors.ts";
import { type CountedList, type CountedOwner, isRowKey, keyAt } from "./counted-list.ts";
import { countEntries, decodeEntries, type Entry, isSortKey, isSum, type Place } from "./entry.ts";
import type { Root } from "./root.ts";
import { limits } from "./tree-limits.ts";

/*
 * What a maintainer can have stored: readers, maintainers and audits treat anything else as damage. Only an audit can find
 * out whether a tree has the rows of the table.
 */

/** Whether a value is a count that is small enough to be added up. */
const isNumber = (value: unknown): value is number => isCount(value) && value <= 2 ** 50;

/** The first commit already raises the version. */
const isVersion = (value: unknown): value is number => isNumber(value) && value >= 1;

/** Four levels have billions of rows, and a window of a tree with more levels would need too many calls. */
const isLevel = (value: unknown): value is number => isNumber(value) && value >= 1 && value <= 4;

/** The fields of a root besides its entries. Built by pure calls, so that bundles leave out what is not used. */
export const rootFields = {
  version: isVersion,
  generation: isNumber,
  level: isLevel,
  bufferStart: isSortKey,
  watermark: isSortKey,
  fed: /* @__PURE__ */ optional(isSortKey),
  expiresAt: /* @__PURE__ */ optional(isNumber),
};

/** The root of an item, for a list or a label. @throws InvalidItemError */
export function validRoot({ list }: CountedOwner, item: Item): Root {
  const fields = readFields(item, rootFields);
  const { level, bufferStart, watermark, fed = "", expiresAt } = fields;
  const all = decodeEntries(item.entries);
  const entries = all?.filter(({ start }) => start < bufferStart) ?? [];
  const buffer = all?.slice(entries.length) ?? [];
  // A tree with a watermark ahead of the clock would lack the rows that are created until that time.
  const end = keyAt(list, Date.now() + limits.skew);
  const wrong = Object.entries({
    size: !isSmall(item),
    watermark: watermark > end || watermark < bufferStart,
    fed: fed > end,
    entries: !all || !areRows(list, buffer) || buffer.some(({ start }) => start >= watermark),
    // Without nodes, the next nodes are of level 1.
    level: entries.length === 0 && level > 1,
    expiresAt: expiresAt !== undefined && entries.length + buffer.length > 0,
  }).find(([, isWrong]) => isWrong);
  if (wrong) throw new InvalidItemError(item, wrong[0]);
  return { ...fields, entries, buffer };
}

/** The entries of a node's item if they match the entry above the node; undefined otherwise. */
export function validEntries(
  list: CountedList,
  item: Item | undefined,
  level: number,
  { entry, end }: Place,
): readonly Entry[] | undefined {
  const entries = item && isSmall(item) ? decodeEntries(item.entries) : undefined;
  const [first = entry] = entries ?? [];
  const isWithin = first.start >= entry.start && (entries?.at(-1)?.start ?? "") < end;
  // Only nodes of rows lose entries, so only these can be empty.
  const isOfLevel = level === 1 ? areRows(list, entries ?? []) : entries?.length !== 0;
  return entries && isWithin && isOfLevel && isSum(entry, entries) ? entries : undefined;
}

const areRows = (list: CountedList, entries: readonly Entry[]) =>
  entries.every((entry) => countEntries([entry]) === 1 && isRowKey(list, entry.start));

/** Whether an item costs no more than two read units, whatever other attributes it has. A full root has 4.5 KB of entries. */
const isSmall = (item: Item) => sizeOf(item) <= 8192;

/** The approximate size of a value in the table, in bytes. */
function sizeOf(value: unknown): number {
  if (typeof value === "string" || value instanceof Uint8Array) return value.length;
  const parts = value instanceof Set ? [...value].entries() : Object.entries(Object(value));
  return [...parts].reduce((size, [name, part]) => size + String(name).length + sizeOf(part), 1);
}
