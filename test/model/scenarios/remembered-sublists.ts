import type { Scenario } from "../scenario.ts";
import { change, create, insert, list, pass, remove } from "./parts.ts";
import { counted, limits, withTail } from "./sublists.ts";

const sources = ["a"];

/** Sublists that an environment remembers. */
export const rememberedSublists: readonly Scenario[] = [
  {
    name: "an environment remembers a row of the tail that is deleted",
    ...{ limits, sources },
    initial: withTail,
    events: [[pass(36_000), list, remove(3)], [change(1)]],
    maintainers: [0, 0],
  },
  {
    name: "an environment lists a row of the tail that was deleted",
    ...{ limits, sources },
    initial: [counted, [38]],
    events: [[remove(3), pass(29_900), list]],
    maintainers: [-2000],
  },
  {
    name: "a sublist gets a tree after a row was deleted, and cannot count its rows",
    limits: { ...limits, sublistRows: 3 },
    sources: ["a", "a", "a", "a", "b"],
    initial: [
      [100, 90],
      [85, 80],
    ],
    events: [[insert(4, 95), remove(1), create(10), list]],
    maintainers: [0],
  },
  {
    name: "the watermark cannot pass a deleted row at once",
    ...{ limits, sources },
    initial: withTail,
    events: [[pass(36_000), list, insert(4, 38), remove(3), pass(33_000), change(1)]],
    maintainers: [0],
  },
];
