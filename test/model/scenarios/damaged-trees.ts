import type { Scenario } from "../scenario.ts";
import { change, deep, fed, insert, lose, move, pass, remove, tiny, worlds } from "./parts.ts";

const sources = ["b", "a", "a", "a", "a"];

/** Trees that are damaged, emptied and filled again. */
export const damagedTrees: readonly Scenario[] = [
  ...worlds(
    { limits: fed, sources, maintainers: [0, 0] },
    {
      "a node of a list is lost": {
        limits: { ...tiny, rowsAtOnce: 20, nodesWritten: 20 },
        sources: [],
        initial: [[100, 90, 80, 70]],
        events: [[lose("node")], [change(0)], [remove(3)]],
      },
      "the root of a list is lost": {
        initial: [[100, 90]],
        events: [[lose("root"), change(0)], [remove(1)]],
      },
      "the root of a sublist is lost": {
        initial: [[100, 90], [12]],
        events: [[lose("root", "a"), change(0)], [remove(1)]],
      },
      "a node of a sublist is spoiled": {
        limits: deep,
        sources: ["a"],
        initial: [[100, 90, 80, 70]],
        events: [[lose("entries", "a"), change(0)], [remove(3)]],
      },
      "a tree is filled in several commits": {
        limits: { ...fed, rowsAtOnce: 2 },
        sources: ["a"],
        initial: [[100, 90, 80]],
        events: [[lose("root", "a"), change(0)]],
        crashes: 1,
      },
      "a feed passes a tree that is filled, and a row that was fed moves to it": {
        limits: { ...fed, tail: 4 },
        sources: ["b", "a", "b"],
        initial: [[100, 90], [4]],
        events: [
          [pass(), change(0), move(2, "a")],
          [lose("root", "a"), change(1)],
        ],
        maintainers: [0],
        crashes: 1,
      },
    },
  ),
  ...worlds(
    { large: true, limits: fed, sources, maintainers: [0, 0] },
    {
      "the root of a sublist is lost while it is fed": {
        initial: [[100, 90], [12]],
        events: [[change(0)], [remove(1), lose("root", "a")]],
      },
      "a node of a sublist is lost, and the tree is filled beside a feed": {
        limits: deep,
        sources: ["a"],
        initial: [[100, 90, 80, 70], [12]],
        events: [[lose("node", "a"), change(0)], [insert(6, 14)]],
      },
      "a tree is filled while a row moves to it": {
        initial: [[100, 90, 80]],
        events: [[lose("root", "a"), change(1)], [move(0, "a")]],
      },
      "a tree is filled while its list counts and feeds a row of it": {
        limits: { ...fed, tail: 4 },
        initial: [[100, 90], [6]],
        events: [[change(0)], [lose("root", "a"), change(1)]],
        maintainers: [-2000, 0],
      },
    },
  ),
];
