import type { Scenario } from "../scenario.ts";
import { change, create, insert, pass, remove, tiny } from "./parts.ts";

/** Whole lists, in larger worlds. */
export const largeWholeLists: readonly Scenario[] = [
  {
    name: "three changes and two maintainers that crash",
    limits: tiny,
    initial: [[100, 90, 80]],
    events: [[change(0)], [remove(1)], [insert(3, 85)]],
    maintainers: [0, 0],
    crashes: 1,
  },
  {
    name: "imports that two maintainers count",
    limits: { ...tiny, rowsAtOnce: 2 },
    initial: [[100], [60]],
    events: [[insert(2, 90), insert(3, 80)], [insert(4, 85)]],
    maintainers: [0, 0],
  },
  {
    name: "a reader while nodes split and a tail is counted",
    limits: tiny,
    initial: [[100], [60]],
    events: [
      [insert(2, 90), insert(3, 80)],
      [create(4), pass()],
    ],
    maintainers: [0],
    pages: [1, 2],
  },
];
