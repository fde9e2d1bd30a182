import type { Scenario } from "../scenario.ts";
import { change, create, pass } from "./parts.ts";
import { counted, limits } from "./sublists.ts";

const sources = ["a"];

/** Rows of a sublist that its index may not have yet. */
export const youngRows: readonly Scenario[] = [
  {
    name: "a row is created while the tail is counted",
    ...{ limits, sources },
    initial: [counted, [20]],
    events: [[pass(19_000), create(4, 19_000), create(10, 19_000), pass()]],
    maintainers: [0],
  },
  {
    name: "a row that landed late is not in the index yet, and a clock is ahead",
    ...{ limits, sources },
    initial: [counted, [20]],
    events: [[pass(2900), create(4, 10), pass(29_900), change(3)]],
    maintainers: [2000],
  },
  {
    name: "young rows are counted, and one lands late",
    limits: { ...limits, youngTail: 1 },
    sources,
    initial: [counted],
    events: [[create(4), create(10), pass(2900)], [create(5, 10)]],
    maintainers: [0],
  },
  {
    name: "young rows are counted while one is created and one changes",
    limits: { ...limits, youngTail: 1 },
    sources,
    initial: [counted, [12, 11]],
    events: [[create(5), pass(), change(3)], [create(10)]],
    maintainers: [0],
  },
];
