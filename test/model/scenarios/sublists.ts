import type { Limits } from "../../../shared/pages/tree/tree-limits.ts";
import { lookEvery } from "../rows.ts";
import type { Scenario } from "../scenario.ts";
import { change, create, flat, insert, move, pass, remove } from "./parts.ts";

/**
 * Limits with which the whole list has few commits, and a sublist of three rows has a tree. Maintainers look at a sublist
 * after changes of rows whose numbers end with 0, and of three at once.
 */
export const limits: Limits = {
  ...{ ...flat, tail: 16, commitNodes: 72, rootBytes: 3900, nodeBytes: 3800, keptBytes: 3400 },
  ...{ sublistRows: 2, lookEvery, manyRows: 3, youngTail: 9, sublistCommitRows: 20 },
};

/** Rows that have had a tree for 40 seconds. */
export const counted = [100, 90, 80];

/** Rows with a tail, which is just old enough to be read from the index: 37 seconds. */
export const withTail = [counted, [39]];

const sources = ["a"];

/** The sublists of one source or several. */
export const sublists: readonly Scenario[] = [
  {
    name: "a sublist gets a tree while a row changes",
    ...{ limits, sources },
    initial: [[100, 90]],
    events: [[create(10)], [change(0)]],
    maintainers: [0, 0],
  },
  {
    name: "a sublist gets a tree while a row is deleted",
    ...{ limits, sources },
    initial: [[100, 90]],
    events: [[create(10)], [remove(1)]],
    maintainers: [0, 0],
  },
  {
    name: "a sublist gets a tree while a row is imported",
    ...{ limits, sources },
    initial: [[100, 90]],
    events: [[create(10)], [insert(2, 95)]],
    maintainers: [0, 0],
  },
  {
    name: "a sublist gets a tree from one maintainer and is counted by another, and a row is imported",
    ...{ limits, sources },
    initial: [[100, 90]],
    events: [[create(10)], [insert(2, 95), create(20, -10)]],
    maintainers: [0, 0],
  },
  {
    name: "a sublist gets a tree while a row moves to another",
    ...{ limits, sources },
    initial: [[100, 90]],
    events: [[create(10)], [move(0, "b")]],
    maintainers: [0, 0],
  },
  {
    name: "a row of the tail changes while it is counted",
    ...{ limits, sources },
    initial: withTail,
    events: [[create(10)], [change(3)]],
    maintainers: [0, 0],
  },
  {
    name: "a row of the tail changes before it is counted",
    ...{ limits, sources },
    initial: [counted, [12]],
    events: [[change(3), pass(29_000), create(10, 29_000)]],
    maintainers: [1000, -1000],
  },
  {
    name: "a row is imported into the tail while it is counted",
    ...{ limits, sources },
    initial: withTail,
    events: [[create(10)], [insert(4, 40)]],
    maintainers: [0, 0],
  },
  {
    name: "a row is imported into the tail before it is counted",
    ...{ limits, sources },
    initial: [counted, [12]],
    events: [[insert(4, 13), pass(29_000), create(10, 29_000)]],
    maintainers: [1000, -1000],
  },
  {
    name: "changes of a row in a sublist's tree that undo each other",
    ...{ limits, sources },
    initial: [counted],
    events: [[change(1), change(1, "new")]],
    maintainers: [0, 0],
  },
  {
    name: "an import into a sublist's tree, with a crash",
    ...{ limits, sources },
    initial: [counted],
    events: [[insert(4, 85)], [remove(1)]],
    maintainers: [0, 0],
    crashes: 1,
  },
  {
    name: "a row moves to a sublist with a tree, and back",
    large: true,
    limits,
    sources: ["a", "a", "a", "b", "b", "b"],
    initial: [
      [100, 95, 90],
      [85, 80, 75],
    ],
    events: [[move(1, "b"), move(1, "a")]],
    maintainers: [0, 0],
  },
  {
    name: "a row moves to the tail of a sublist while that is counted",
    limits,
    sources: ["b", "b", "b", "b", "a"],
    initial: [counted, [40, 39]],
    events: [[create(10)], [move(4, "b")]],
    maintainers: [0],
  },
  {
    name: "a reader while a sublist gets a tree",
    ...{ limits, sources },
    initial: [[100, 90]],
    events: [[create(10)]],
    maintainers: [0],
    pages: [2],
    filter: { source: "a" },
  },
  {
    name: "a reader while the tail of a sublist is counted",
    ...{ limits, sources },
    initial: [counted, [39, 38]],
    events: [[create(10)], [change(3)]],
    maintainers: [0],
    pages: [1, 2],
    filter: { source: "a" },
  },
];
