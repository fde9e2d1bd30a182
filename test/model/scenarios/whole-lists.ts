import type { Scenario } from "../scenario.ts";
import { change, create, flat, insert, pass, remove, tiny } from "./parts.ts";

/** Whole lists, in worlds of a second. */
export const wholeLists: readonly Scenario[] = [
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
];
