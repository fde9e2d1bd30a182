import type { Scenario } from "../scenario.ts";
import { change, create, flat, insert, pass, remove, tiny } from "./parts.ts";

/** Whole lists, in worlds of a second. */
export const wholeLists: readonly Scenario[] = [
  {
    name: "changes of rows in the root",
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
    name: "changes of rows in several nodes, with cut commits",
    limits: tiny,
    initial: [[100, 90, 80, 70, 60, 50]],
    events: [[change(0), change(1)], [remove(2)]],
    maintainers: [0, 0],
  },
  {
    name: "imports that split a node",
    limits: tiny,
    initial: [[100, 90, 60, 50]],
    events: [[insert(4, 85), insert(5, 80), insert(6, 82)]],
    maintainers: [0],
    crashes: 1,
  },
  {
    name: "a tail that is counted in several commits",
    limits: { ...tiny, rowsAtOnce: 2 },
    initial: [[100, 90], [14, 13, 12, 11, 10]],
    events: [[change(2)], [remove(3)]],
    maintainers: [0, 0],
  },
  {
    name: "a row of the tail changes while it is counted",
    limits: flat,
    initial: [[100], [12, 11]],
    events: [[change(1)], [remove(2)]],
    maintainers: [0, 0],
  },
  {
    name: "a row of the tail changes before it is counted, with clocks that differ",
    limits: flat,
    initial: [[100], [5]],
    events: [[change(1)], [change(0)]],
    maintainers: [1000, -1000],
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
    name: "a reader while rows change",
    limits: tiny,
    initial: [[100, 90, 80, 70]],
    events: [[change(0)], [remove(2)]],
    maintainers: [0, 0],
    pages: [2],
  },
];
