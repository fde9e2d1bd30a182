import type { Cells } from "../../../../shared/pages/tree/cells.ts";
import { cellNumber, type Statuses } from "../../../../shared/pages/tree/statuses.ts";
import type { EntryRange } from "./entry-ranges.ts";

/** A range of a list whose counts are wrong. */
export interface Difference {
  /** 0 for a leaf, or a row of a sublist, that differs from the rows of the table; n for a node of level n that differs from the entry above it. */
  readonly level: number;
  /** The first sort key of the range. */
  readonly start: string;
  /** The sort key at which the range ends, exclusive. */
  readonly end: string;
  /** The counted and the actual number of rows with a status. */
  readonly cells: readonly {
    readonly status: string;
    readonly counted: number;
    readonly actual: number;
  }[];
}

/** Compares an entry with the actual cells of its range. */
export function describeDifference(
  statuses: Statuses,
  level: number,
  entry: EntryRange,
  actual: Cells,
): Difference {
  const numbers = [...new Set([...entry.cells.keys(), ...actual.keys()])].sort((a, b) => a - b);
  const cells = numbers.map((cell) => ({
    status: statuses.names.find((status) => cellNumber(statuses, status) === cell) ?? "(other)",
    counted: entry.cells.get(cell) ?? 0,
    actual: actual.get(cell) ?? 0,
  }));
  const { start, end } = entry;
  return { level, start, end, cells: cells.filter(({ counted, actual }) => counted !== actual) };
}
