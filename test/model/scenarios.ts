import { type Limits, limits } from "../../shared/pages/tree/tree-limits.ts";
import type { Event, Scenario } from "./scenario.ts";

/** Limits with which a handful of rows has nodes, splits, and commits that are cut. */
const tiny: Limits = {
  ...{ allowedLateness: limits.allowedLateness, skew: limits.skew, tail: 0 },
  ...{ leafRows: 1, largestLeaf: 2, nodeBytes: 70, keptBytes: 55, rootBytes: 270 },
  ...{ rangeRows: 3, commitTime: limits.commitTime, commitNodes: 1, transactionNodes: 3 },
};

/** Limits with which all rows are in the root's newest leaf. */
const flat: Limits = { ...tiny, leafRows: 8, largestLeaf: 8, rangeRows: 20 };

const change = (row: number, status: "booked" | "new" = "booked"): Event => ({
  do: "change",
  row,
  status,
});
const remove = (row: number): Event => ({ do: "delete", row });
const create = (row: number, at = 0): Event => ({ do: "create", row, at: at + row - 10 });
/** Imports a row with an age, in seconds. */
const insert = (row: number, age: number): Event => ({ do: "import", row, at: -age * 1000 });
/** The clock goes on until new rows have settled. */
const pass = (time = 6000): Event => ({ do: "pass", time });

export const scenarios: readonly Scenario[] = [
  {
    name: "changes of rows in one leaf",
    limits: flat,
    initial: [[100, 90, 80]],
    events: [[change(0)], [remove(1)]],
    maintainers: [0, 0],
    crashes: 1,
  },
  {
    name: "changes that undo each other",
    limits: flat,
    initial: [[100, 90]],
    events: [[change(0), change(0, "new")]],
    maintainers: [0, 0],
  },
  {
    name: "changes of rows in several leaves, with cut commits",
    limits: tiny,
    initial: [[100, 90, 80, 70]],
    events: [[change(0), change(1)], [remove(2)]],
    maintainers: [0, 0],
  },
  {
    name: "imports that split a leaf and exceed its range",
    limits: { ...tiny, rangeRows: 2 },
    initial: [[100], [60]],
    events: [[insert(2, 90), insert(3, 80), insert(4, 85)]],
    maintainers: [0],
    crashes: 1,
  },
  {
    name: "a leaf of more rows than are read at once",
    limits: { ...tiny, leafRows: 4, largestLeaf: 4, rangeRows: 2 },
    initial: [[100, 90, 80, 70]],
    events: [[change(0)], [remove(2)]],
    maintainers: [0, 0],
  },
  {
    name: "the first commits of a list",
    limits: flat,
    initial: [],
    events: [[create(0), pass(), change(0)]],
    maintainers: [0, 0],
  },
  {
    name: "rows that land late",
    limits: tiny,
    initial: [[100]],
    events: [[create(1)], [create(2), pass(2900)]],
    maintainers: [1000],
  },
  {
    name: "a deletion, with clocks that differ",
    limits: flat,
    initial: [[100]],
    events: [[create(1), pass(4500), remove(1)]],
    maintainers: [1000, -1000],
  },
  {
    name: "a rebuild while rows change",
    limits: flat,
    initial: [[100, 90]],
    events: [[change(0)]],
    maintainers: [0],
    rebuilds: 1,
  },
  {
    name: "a rebuild that deletes nodes",
    limits: { ...tiny, rangeRows: 20 },
    initial: [[100, 90, 80, 70]],
    events: [[change(0)]],
    maintainers: [0],
    rebuilds: 1,
  },
  {
    name: "a reader while rows change",
    limits: tiny,
    initial: [[100, 90, 80, 70]],
    events: [[change(0)], [remove(2)]],
    maintainers: [0, 0],
    pages: [2],
  },
  {
    name: "three changes and two maintainers that crash",
    large: true,
    limits: { ...tiny, leafRows: 3, largestLeaf: 3 },
    initial: [[100, 90, 80]],
    events: [[change(0)], [remove(1)], [insert(3, 85)]],
    maintainers: [0, 0],
    crashes: 1,
  },
  {
    name: "imports that two maintainers count",
    large: true,
    limits: { ...tiny, rangeRows: 2 },
    initial: [[100], [60]],
    events: [[insert(2, 90), insert(3, 80)], [insert(4, 85)]],
    maintainers: [0, 0],
  },
  {
    name: "a rebuild, and changes that undo each other",
    large: true,
    limits: flat,
    initial: [[100]],
    events: [[change(0), change(0, "new")]],
    maintainers: [0],
    rebuilds: 1,
  },
  {
    name: "a rebuild, with clocks that differ",
    large: true,
    limits: flat,
    initial: [[100]],
    events: [[create(1), pass(4500)]],
    maintainers: [1000],
    rebuilds: 1,
  },
  {
    name: "two rebuilds, of which one crashes",
    large: true,
    limits: flat,
    initial: [[100]],
    events: [[change(0)]],
    maintainers: [0],
    rebuilds: 2,
    crashes: 1,
  },
  {
    name: "a reader while leaves split and a tail is counted",
    large: true,
    limits: { ...tiny, rangeRows: 2 },
    initial: [[100], [60]],
    events: [
      [insert(2, 90), insert(3, 80)],
      [create(4), pass()],
    ],
    maintainers: [0],
    pages: [1, 2],
  },
  {
    name: "a reader while a rebuild replaces the tree",
    large: true,
    limits: { ...tiny, rangeRows: 20 },
    initial: [[100, 90, 80, 70]],
    events: [[change(0)]],
    maintainers: [0],
    rebuilds: 1,
    pages: [2],
  },
];
