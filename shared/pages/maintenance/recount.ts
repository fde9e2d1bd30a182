import { countRows, noCells } from "../tree/cells.ts";
import type { CountedRow } from "../tree/counted-list.ts";
import { type Entry, separator } from "../tree/entry.ts";
import { cellNumber, learnNames, type Names } from "../tree/names.ts";
import type { Rows } from "../tree/rows.ts";
import type { Limits } from "../tree/tree-limits.ts";

/** The leaves of rows that were read, and the dictionaries with their names. */
export interface Counted {
  readonly leaves: readonly Entry[];
  readonly names: Names;
}

/**
 * Counts all rows of a leaf anew: into one leaf as long as it is not too large, otherwise into many small ones.
 *
 * @returns with `pending`, the start of a last leaf without counts, for the rows that were too many to read at once
 */
export function recountLeaf(
  start: string,
  { rows, next }: Rows,
  names: Names,
  limits: Limits,
): Counted & { readonly pending: string | undefined } {
  const whole = next === undefined && rows.length <= limits.largestLeaf;
  const counted = fillLeaves(
    { start, cells: noCells },
    start,
    rows,
    names,
    whole ? rows.length : limits.leafRows,
  );
  if (next === undefined) return { ...counted, pending: undefined };
  const pending = separator(rows.at(-1)?.sk ?? "", next);
  return { ...counted, leaves: [...counted.leaves, { start: pending, cells: noCells }], pending };
}

/**
 * Adds rows to a leaf that they come after until it has `size`, then to new ones.
 *
 * @param end where the leaf ends, and so a new one starts if the first row finds it full
 */
export function fillLeaves(
  leaf: Entry,
  end: string,
  rows: readonly CountedRow[],
  names: Names,
  size: number,
): Counted {
  const leaves = [{ start: leaf.start, cells: new Map(leaf.cells) }];
  let current = leaves[0];
  let filled = countRows(leaf.cells);
  let before: string | undefined;
  for (const row of rows) {
    names = learnNames(names, row);
    if (!current || filled >= size) {
      current = { start: before === undefined ? end : separator(before, row.sk), cells: new Map() };
      leaves.push(current);
      filled = 0;
    }
    const cell = cellNumber(names, row);
    current.cells.set(cell, (current.cells.get(cell) ?? 0) + 1);
    filled++;
    before = row.sk;
  }
  return { leaves, names };
}
