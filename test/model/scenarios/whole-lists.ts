import type { Scenario } from "../scenario.ts";
import { change, create, flat, insert, pass, remove, tiny, worlds } from "./parts.ts";

/** Lists without sublists. */
export const wholeLists: readonly Scenario[] = [
  ...worlds(
    { limits: flat, maintainers: [0, 0] },
    {
      "changes of rows in the root": {
        initial: [[100, 90, 80]],
        events: [[change(0)], [remove(1)]],
        crashes: 1,
      },
      "changes that undo each other": {
        initial: [[100, 90]],
        events: [[change(0), change(0, "new")]],
      },
      "a row of the tail changes while it is counted": {
        initial: [[100], [12, 11]],
        events: [[change(1)], [remove(2)]],
      },
      "a row of the tail changes before it is counted, with clocks that differ": {
        initial: [[100], [5]],
        events: [[change(1)], [change(0)]],
        maintainers: [1000, -1000],
      },
      "the first commits of a list": {
        initial: [],
        events: [[create(0), pass(), change(0)]],
      },
      "a row is created while an answer is on its way": {
        initial: [[100]],
        events: [[change(0), create(1), pass()]],
        maintainers: [0],
        slow: true,
      },
      "a deletion, with clocks that differ": {
        initial: [[100]],
        events: [[create(1), pass(4500), remove(1)]],
        maintainers: [1000, -1000],
      },
    },
  ),
  ...worlds(
    { limits: tiny, maintainers: [0, 0] },
    {
      "changes of rows in several nodes, with cut commits": {
        initial: [[100, 90, 80, 70, 60, 50]],
        events: [[change(0), change(1)], [remove(2)]],
      },
      "imports that split a node": {
        initial: [[100, 90, 60, 50]],
        events: [[insert(4, 85), insert(5, 80), insert(6, 82)]],
        maintainers: [0],
        crashes: 1,
      },
      "a tail that is counted in several commits": {
        limits: { ...tiny, rowsAtOnce: 2 },
        initial: [
          [100, 90],
          [14, 13, 12, 11, 10],
        ],
        events: [[change(2)], [remove(3)]],
      },
      "rows that land late": {
        initial: [[100]],
        events: [[create(1)], [create(2), pass(2900)]],
        maintainers: [1000],
      },
      "a reader while rows change": {
        initial: [[100, 90, 80, 70]],
        events: [[change(0)], [remove(2)]],
        pages: [2],
      },
    },
  ),
  ...worlds(
    { large: true, limits: tiny, maintainers: [0, 0] },
    {
      "three changes and two maintainers that crash": {
        initial: [[100, 90, 80]],
        events: [[change(0)], [remove(1)], [insert(3, 85)]],
        crashes: 1,
      },
      "imports that two maintainers count": {
        limits: { ...tiny, rowsAtOnce: 2 },
        initial: [[100, 60]],
        events: [[insert(2, 90), insert(3, 80)], [insert(4, 85)]],
      },
      "a reader while nodes split and a tail is counted": {
        initial: [[100, 60]],
        events: [
          [insert(2, 90), insert(3, 80)],
          [create(4), pass()],
        ],
        maintainers: [0],
        pages: [1, 2],
      },
    },
  ),
];
