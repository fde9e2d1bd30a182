import type { Cells } from "../../../shared/pages/tree/cells.ts";
import type { Entry } from "../../../shared/pages/tree/entry.ts";
import { cellNumber, type Names } from "../../../shared/pages/tree/names.ts";

/** An entry with the sort key at which its part of the list ends. */
export interface Bounded extends Entry {
  readonly end: string;
}

/** A part of the list whose counts are wrong. */
export interface Difference {
  /** 0 for a leaf, which differs from its rows; n for a node of level n, which differs from the entry for it. */
  readonly level: number;
  /** The part of the list, from this sort key … */
  readonly start: string;
  /** … to before this one. */
  readonly end: string;
  readonly cells: readonly CellDifference[];
}

/** How often rows of a status and an origin were counted, and how many there are. */
export interface CellDifference {
  readonly status: string;
  readonly sourceOrChannel: string | undefined;
  readonly counted: number;
  readonly actual: number;
}

/** How an entry differs from what is really in its part of the list. */
export function describeDifference(names: Names, level: number, entry: Bounded, actual: Cells): Difference {
  const numbers = [...new Set([...entry.cells.keys(), ...actual.keys()])].sort((a, b) => a - b);
  const labels = cellLabels(names);
  const cells = numbers.map((cell) => ({
    ...(labels.get(cell) ?? { status: unnamed, sourceOrChannel: unnamed }),
    counted: entry.cells.get(cell) ?? 0,
    actual: actual.get(cell) ?? 0,
  }));
  const { start, end } = entry;
  return { level, start, end, cells: cells.filter(({ counted, actual }) => counted !== actual) };
}

/** Stands for every name that has no cells of its own. */
const unnamed = "(other)";

/** What each cell counts. */
function cellLabels(names: Names) {
  const labels = new Map<number, { status: string; sourceOrChannel: string | undefined }>();
  // No name of a row is empty, so this is one that no dictionary has.
  for (const status of [...names.statuses.names, undefined])
    for (const sourceOrChannel of [...names.labels.names, "", undefined])
      labels.set(cellNumber(names, { sk: "", status: status ?? "", sourceOrChannel }), {
        status: status ?? unnamed,
        sourceOrChannel: sourceOrChannel === "" ? unnamed : sourceOrChannel,
      });
  return labels;
}
