import type { Cells } from "../../../shared/pages/tree/cells.ts";
import type { Entry } from "../../../shared/pages/tree/entry.ts";
import { cellNumber, type Names } from "../../../shared/pages/tree/names.ts";

/** An entry with its whole range: from its start to before the sort key `end`. */
export interface EntryRange extends Entry {
  readonly end: string;
}

/** A range of a list whose counts are wrong. */
export interface Difference {
  /** 0 for a leaf that differs from its rows; n for a node of level n that differs from the entry above it. */
  readonly level: number;
  /** The first sort key of the range. */
  readonly start: string;
  /** The sort key at which the range ends, exclusive. */
  readonly end: string;
  /** The counted and the actual number of rows with a status and a source or channel. */
  readonly cells: readonly {
    readonly status: string;
    readonly sourceOrChannel: string | undefined;
    readonly counted: number;
    readonly actual: number;
  }[];
}

/** Compares an entry with the actual cells of its range. */
export function describeDifference(
  names: Names,
  level: number,
  entry: EntryRange,
  actual: Cells,
): Difference {
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

/** The label of all names without cells of their own. */
const unnamed = "(other)";

/** The status and the source or channel of each cell number. */
function cellLabels(names: Names) {
  const labels = new Map<number, { status: string; sourceOrChannel: string | undefined }>();
  // No row has an empty name, so no dictionary contains it.
  for (const status of [...names.statuses.names, undefined])
    for (const sourceOrChannel of [...names.labels.names, "", undefined])
      labels.set(cellNumber(names, { sk: "", status: status ?? "", sourceOrChannel }), {
        status: status ?? unnamed,
        sourceOrChannel: sourceOrChannel === "" ? unnamed : sourceOrChannel,
      });
  return labels;
}
