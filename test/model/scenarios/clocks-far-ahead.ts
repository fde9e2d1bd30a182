import type { Scenario } from "../scenario.ts";
import { change, create, fed, flat, list, pass, remove, tiny, worlds } from "./parts.ts";

const hour = 3_600_000;

/** Watermarks that a clock far ahead has set. */
export const clocksFarAhead: readonly Scenario[] = [
  ...worlds(
    { limits: flat, maintainers: [0, 0] },
    {
      "rows are created before a watermark that is far ahead": {
        initial: [[100, 90]],
        ahead: hour,
        events: [[create(2), pass(), remove(2)]],
      },
      "rows are created before what a clock far ahead has fed": {
        limits: fed,
        sources: ["a"],
        initial: [[100, 90]],
        ahead: hour,
        events: [[create(2), pass(), change(2)]],
      },
      "an environment remembers a row that is deleted, and a watermark goes back": {
        // The deleted row is in the root, and the changed one in a node.
        limits: { ...tiny, lastBytes: 130, rowsAtOnce: 20, nodesWritten: 20 },
        initial: [
          [100, 95, 90, 85, 80],
          [14, 13, 12],
        ],
        events: [[list, change(0), remove(5), change(0, "new")]],
        maintainers: [0, hour],
      },
    },
  ),
];
