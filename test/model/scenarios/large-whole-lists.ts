import type { Scenario } from "../scenario.ts";
import { change, create, flat, insert, pass, remove, tiny } from "./parts.ts";

/** Whole lists, in larger worlds. */
export const largeWholeLists: readonly Scenario[] = [
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
