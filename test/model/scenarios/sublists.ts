import type { Scenario } from "../scenario.ts";
import { change, create, deep, fed, insert, move, pass, remove, worlds } from "./parts.ts";

/** Row 0 has another source than the others. */
const sources = ["b", "a", "a", "a", "a"];

/** Sublists that are fed by the tail of their list. */
export const sublists: readonly Scenario[] = [
  ...worlds(
    { limits: fed, sources, maintainers: [0, 0] },
    {
      "a source is fed for the first time while a row of it changes": {
        initial: [[100], [12, 11]],
        events: [[change(0)], [change(1)]],
      },
      "a source is fed for the first time while a row of it is deleted": {
        initial: [[100], [12, 11]],
        events: [[change(0)], [remove(1)]],
      },
      "a source is fed again while a row of it is deleted": {
        initial: [
          [100, 90],
          [12, 11],
        ],
        events: [[change(0)], [remove(2)]],
      },
      "a source is fed while a row is imported": {
        initial: [[100], [12]],
        events: [[change(0)], [insert(2, 13)]],
      },
      "a row is imported before those that are fed": {
        initial: [[100, 90], [12]],
        events: [[change(0)], [insert(3, 95)]],
      },
      "a feed that is interrupted": {
        sources: ["b", "a", "b"],
        initial: [[100], [12, 11]],
        events: [[remove(1)]],
        crashes: 1,
      },
      "changes of a row in a sublist's tree that undo each other": {
        initial: [[100, 90]],
        events: [[change(1), change(1, "new")]],
      },
      "a row moves to another source and back": {
        initial: [[100, 90, 80]],
        events: [[move(1, "b"), move(1, "a")]],
      },
    },
  ),
  ...worlds(
    { limits: fed, sources, maintainers: [0] },
    {
      "a row that was fed moves to a source without a tree": {
        initial: [[100, 90]],
        events: [[move(1, "c")], [change(0)]],
        crashes: 1,
      },
      "a row is created, counted and fed before its record comes": {
        initial: [[100]],
        events: [[change(0)], [create(1), pass()]],
      },
      "a feed in cut commits": {
        limits: { ...deep, nodesWritten: 1 },
        sources: ["a"],
        initial: [
          [100, 90, 80],
          [14, 13, 12, 11],
        ],
        events: [[remove(3)]],
        crashes: 1,
      },
    },
  ),
  ...worlds(
    { limits: deep, sources: ["a"], maintainers: [0, 0] },
    {
      "nodes of a sublist's tree, with cut commits": {
        initial: [[100, 95, 90, 85, 80]],
        events: [[change(1), remove(2)], [insert(6, 110)]],
      },
    },
  ),
  ...worlds(
    { large: true, limits: fed, sources, maintainers: [0, 0] },
    {
      "a source is fed while a row of it moves to another": {
        initial: [[100], [12, 11]],
        events: [[change(0)], [move(1, "b")]],
      },
      "a source is fed while a row of it moves to one without a tree": {
        initial: [[100], [12, 11]],
        events: [[change(0)], [move(1, "c")]],
      },
      "a feed in portions": {
        limits: { ...fed, fedRows: 1 },
        initial: [[100], [13, 12]],
        events: [[change(0)], [remove(1)]],
      },
      "a feed of two sources that is interrupted, and a deletion": {
        sources: ["b", "a", "b", "c"],
        initial: [[100], [12, 11]],
        events: [[change(0)], [remove(1)]],
        crashes: 1,
      },
      "nodes of a sublist's tree that is fed in cut commits while a row is deleted": {
        limits: deep,
        sources: ["a"],
        initial: [
          [100, 90, 80],
          [14, 13, 12],
        ],
        events: [[remove(4)], [change(0)]],
      },
      "a feed and clocks that differ": {
        initial: [[100]],
        events: [[create(1), pass(4500), remove(1), pass(2000), change(0)]],
        maintainers: [1000, -1000],
      },
    },
  ),
];
