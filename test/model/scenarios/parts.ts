import { type Limits, limits } from "../../../shared/pages/tree/tree-limits.ts";
import type { Event } from "../scenario.ts";

/** Limits with which a handful of rows has nodes, splits, and commits that are cut. */
export const tiny: Limits = {
  ...{ allowedLateness: limits.allowedLateness, skew: limits.skew, tail: 0 },
  ...{ leafRows: 1, largestLeaf: 2, nodeBytes: 70, keptBytes: 55, rootBytes: 270 },
  ...{ rangeRows: 3, commitTime: limits.commitTime, commitNodes: 1, transactionNodes: 3 },
  ...{ indexLateness: limits.indexLateness, sublistRows: 1, lookEvery: 1, manyRows: 1 },
  ...{ rowNodeBytes: 70, keptRowBytes: 55, sublistRootBytes: 270 },
  ...{ sublistTail: 1, youngTail: 1, sublistCommitRows: 2 },
};

/** Limits with which all rows are in the root's newest leaf. */
export const flat: Limits = { ...tiny, leafRows: 8, largestLeaf: 8, rangeRows: 20 };

export const change = (row: number, status: "booked" | "new" = "booked"): Event => ({
  do: "change",
  row,
  status,
});
export const move = (row: number, source: string): Event => ({ do: "move", row, source });
export const remove = (row: number): Event => ({ do: "delete", row });
export const create = (row: number, at = 0): Event => ({ do: "create", row, at: at + row - 10 });
/** Imports a row with an age, in seconds. */
export const insert = (row: number, age: number): Event => ({ do: "import", row, at: -age * 1000 });
/** The clock goes on until new rows have settled. */
export const pass = (time = 6000): Event => ({ do: "pass", time });
export const list: Event = { do: "list" };
