import type { Scenario } from "../scenario.ts";
import { change, create, deep, fed, insert, move, pass, remove } from "./parts.ts";

const sources = ["b", "a", "a", "a", "a"];

/** Sublists, in larger worlds. */
export const largeSublists: readonly Scenario[] = [
  {
    name: "a feed of two sources that is interrupted, and one deletion",
    ...{ limits: fed, sources: ["b", "a", "b", "c"] },
    initial: [[100], [12, 11]],
    events: [[change(0)], [remove(1)]],
    maintainers: [0, 0],
    crashes: 1,
  },
  {
    name: "three changes of sources that are fed",
    ...{ limits: fed, sources },
    initial: [[100], [12, 11]],
    events: [[change(0)], [change(1)], [move(2, "b")]],
    maintainers: [0, 0],
  },
  {
    name: "nodes of a sublist's tree that is fed in cut commits while a row is deleted",
    ...{ limits: deep, sources: ["a"] },
    initial: [[100, 90, 80, 70], [14, 13, 12, 11, 10]],
    events: [[remove(6)], [insert(10, 85)]],
    maintainers: [0, 0],
  },
  {
    name: "a feed and clocks that differ",
    ...{ limits: fed, sources },
    initial: [[100]],
    events: [[create(1), pass(4500), remove(1), pass(2000), change(0)]],
    maintainers: [1000, -1000],
  },
];
