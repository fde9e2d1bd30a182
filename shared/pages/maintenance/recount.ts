import { countRows, noCells } from "../tree/cells.ts";
import type { CountedRow } from "../tree/counted-list.ts";
import { type Entry, separator } from "../tree/entry.ts";
import type { Rows } from "../tree/rows.ts";
import { cellNumber, learnStatus, type Statuses } from "../tree/statuses.ts";
import type { Limits } from "../tree/tree-limits.ts";

/** The leaves that count rows, and the statuses with cells of their own. */
export interface Counted {
  readonly leaves: readonly Entry[];
  readonly statuses: Statuses;
}

/**
 * Recounts the rows of a leaf: into one leaf, or into many small ones if it is too large.
 *
 * @returns `pending`: the start of a last leaf without counts, when there were more rows than one read returns
 */
export function recountLeaf(
  start: string,
  { rows, next }: Rows,
  statuses: Statuses,
  limits: Limits,
): Counted & { readonly pending: string | undefined } {
  const whole = next === undefined && rows.length <= limits.largestLeaf;
  const counted = fillLeaves(
    { start, cells: noCells },
    start,
    rows,
    statuses,
    whole ? rows.length : limits.leafRows,
  );
  if (next === undefined) return { ...counted, pending: undefined };
  const pending = separator(rows.at(-1)?.sk ?? "", next);
  return { ...counted, leaves: [...counted.leaves, { start: pending, cells: noCells }], pending };
}

/**
 * Adds later rows to a leaf until it has `size` rows, then to new leaves.
 *
 * @param end the end of the leaf: where a new one starts if the leaf is already full
 */
export function fillLeaves(
  leaf: Entry,
  end: string,
  rows: readonly CountedRow[],
  statuses: Statuses,
  size: number,
): Counted {
  const leaves = [{ start: leaf.start, cells: new Map(leaf.cells) }];
  let current = leaves[0];
  let filled = countRows(leaf.cells);
  let before: string | undefined;
  for (const row of rows) {
    statuses = learnStatus(statuses, row.status);
    if (!current || filled >= size) {
      current = { start: before === undefined ? end : separator(before, row.sk), cells: new Map() };
      leaves.push(current);
      filled = 0;
    }
    const cell = cellNumber(statuses, row.status);
    current.cells.set(cell, (current.cells.get(cell) ?? 0) + 1);
    filled++;
    before = row.sk;
  }
  return { leaves, statuses };
}
