import type { Scenario } from "../scenario.ts";
import { change, create, insert, move, pass, remove } from "./parts.ts";
import { counted, limits, withTail } from "./sublists.ts";

/** Limits with which the tree of a sublist has nodes, and commits are cut. */
const deep = {
  ...limits,
  nodeBytes: 70,
  keptBytes: 55,
  rootBytes: 330,
  commitNodes: 3,
  sublistCommitRows: 2,
};

const sources = ["a"];

/** Sublists, in larger worlds. */
export const largeSublists: readonly Scenario[] = [
  {
    name: "nodes of a sublist's tree, with cut commits",
    ...{ limits: deep, sources },
    initial: [[100, 95, 90, 85, 80], [39]],
    events: [[change(1), remove(2)], [insert(6, 110)]],
    maintainers: [0, 0],
  },
  {
    name: "a sublist gets a tree in cut commits while a row is deleted",
    limits: { ...deep, sublistRows: 4 },
    sources,
    initial: [[100, 90, 80, 70]],
    events: [[create(10)], [remove(1)]],
    maintainers: [0, 0],
  },
  {
    name: "a sublist gets a tree and loses rows, with a crash",
    ...{ limits, sources },
    initial: [[100, 90]],
    events: [[create(10)], [change(0), remove(1)]],
    maintainers: [0, 0],
    crashes: 1,
  },
  {
    name: "changes of a row of the tail that undo each other, with a crash",
    ...{ limits, sources },
    initial: withTail,
    events: [[create(10)], [change(3), change(3, "new")]],
    maintainers: [0, 0],
    crashes: 1,
  },
  {
    name: "three changes of a sublist",
    ...{ limits, sources },
    initial: withTail,
    events: [[create(10)], [change(1)], [move(3, "b")]],
    maintainers: [0, 0],
  },
  {
    name: "a sublist and clocks that differ",
    ...{ limits, sources },
    initial: [counted, [38]],
    events: [[create(10), remove(3), pass(8000), change(0)]],
    maintainers: [1000, -1000],
  },
  {
    name: "a tail of old rows, imported ones and late ones",
    ...{ limits, sources },
    initial: [counted, [20]],
    events: [
      [pass(19_000), insert(4, 21), change(3), pass(14_000), create(10, 33_000), pass(32_000), change(0)],
    ],
    maintainers: [0],
  },
];
