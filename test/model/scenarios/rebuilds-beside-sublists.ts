import type { Scenario } from "../scenario.ts";
import { create, insert } from "./parts.ts";
import { limits } from "./sublists.ts";

/** Rebuilds of a whole list while its sublists are counted. */
export const rebuildsBesideSublists: readonly Scenario[] = [
  {
    name: "a sublist gets a tree while a row is imported and its list rebuilt",
    ...{ limits, sources: ["a"] },
    initial: [[100, 90]],
    events: [[insert(2, 95), create(10)]],
    maintainers: [0],
    rebuilds: 1,
  },
];
