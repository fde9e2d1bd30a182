import type { Root } from "../tree/root.ts";
import type { CountedRow, Rows } from "../tree/rows.ts";
import type { Limits } from "../tree/tree-limits.ts";

/** Whether a list has so many rows that are in no tree of their source or channel, that they are read to decide. */
export const isLookDue = ({ fed = "", unfed = 0, watermark, lookAt }: Root, { sublistRows }: Limits) =>
  unfed >= (lookAt ?? sublistRows) && fed < watermark;

/**
 * Whether these rows are set in trees of their sources and channels: when one of these has so many of them that a tree of
 * its own pays, or when all of them are so many.
 *
 * @param sublists the rows of each source or channel
 */
export function payOwnTrees(
  read: Rows,
  sublists: readonly (readonly CountedRow[])[],
  { fedRows, sublistRows }: Limits,
): boolean {
  if (read.next !== undefined || weigh(read.rows, read) >= fedRows) return true;
  return sublists.some((rows) => weigh(rows, read) >= sublistRows);
}

/** At how many such rows the next look is due, after one at rows that did not pay. */
export const nextLook = ({ unfed = 0 }: Root, { fedRows, sublistRows }: Limits) =>
  Math.min(2 * unfed, Math.max(fedRows, unfed + sublistRows));

/** The number of rows from a sort key on, each of them once for every KB, as lists read them. */
export function weigh(rows: readonly CountedRow[], { rows: read, units }: Rows, from = ""): number {
  // A read unit is 4 KB.
  const weight = Math.max(1, (4 * units) / Math.max(1, read.length));
  return Math.ceil(weight * rows.filter(({ sk }) => sk >= from).length);
}
