import type { Scenario } from "../scenario.ts";
import { change, deep, fed, insert, lose, move, remove, tiny } from "./parts.ts";

const sources = ["b", "a", "a", "a", "a"];

/** Trees that are damaged, emptied and filled again. */
export const damagedTrees: readonly Scenario[] = [
  {
    name: "a node of a list is lost",
    limits: { ...tiny, rowsAtOnce: 20, nodesWritten: 20 },
    initial: [[100, 90, 80, 70]],
    events: [[lose("node")], [change(0)], [remove(3)]],
    maintainers: [0, 0],
  },
  {
    name: "the root of a list is lost",
    ...{ limits: fed, sources },
    initial: [[100, 90]],
    events: [[lose("root"), change(0)], [remove(1)]],
    maintainers: [0, 0],
  },
  {
    name: "the root of a sublist is lost",
    ...{ limits: fed, sources },
    initial: [[100, 90], [12]],
    events: [[lose("root", "a"), change(0)], [remove(1)]],
    maintainers: [0, 0],
  },
  {
    name: "a node of a sublist is lost",
    ...{ limits: deep, sources: ["a"] },
    initial: [[100, 90, 80, 70]],
    events: [[lose("node", "a"), change(0)], [remove(3)]],
    maintainers: [0, 0],
  },
  {
    name: "a node of a sublist is spoiled, and the tree is filled beside a feed",
    large: true,
    ...{ limits: deep, sources: ["a"] },
    initial: [[100, 90, 80, 70], [12]],
    events: [[lose("entries", "a"), change(0)], [insert(6, 14)]],
    maintainers: [0, 0],
  },
  {
    name: "a tree is filled while a row moves to it",
    large: true,
    ...{ limits: fed, sources },
    initial: [[100, 90, 80]],
    events: [[lose("root", "a"), change(1)], [move(0, "a")]],
    maintainers: [0, 0],
  },
];
