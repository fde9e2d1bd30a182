import type { Results } from "../parts.ts";
import type { Writing } from "../writes/write-cost.ts";
import { type Check, check } from "./check.ts";
import { sizesChecks } from "./sizes-checks.ts";
import { sourcesChecks } from "./sublist-checks.ts";
import { windowsChecks } from "./windows.ts";

/** Every limit for which the run has figures. */
export const checkLimits = ({ sizes, sources, windows, writes }: Results): Check[] => [
  ...sizesChecks(sizes),
  ...sourcesChecks(sources),
  ...windowsChecks(windows),
  ...writes.flatMap(writeChecks),
];

export const holds = ({ most, measured }: Check) => measured <= most;

function writeChecks(writing: Writing): Check[] {
  const { kind, what, sources = 0, extraWrite, extraRead, oneWrite, oneRead, largestTransaction } = writing;
  switch (kind) {
    case "uncounted":
      return [check(`${what}: units more each`, 0, [extraWrite + extraRead])];
    case "scattered":
      return [
        { ...check(`${what}: write units, median`, 3, [oneWrite.median]), aim: true },
        { ...check(`${what}: read units, median`, 8, [oneRead.median]), aim: true },
      ];
    case "burst":
      return [check(`${what}: write units more each`, 0.5, [extraWrite])];
    case "steady":
      return [check(`${what}: write units more each`, sources > 200 ? 1.2 : 0.6, [extraWrite])];
    case "back-dated":
      return [
        check(`${what}: read units each`, 8, [extraRead]),
        check(`${what}: items of a transaction`, 100, [largestTransaction]),
      ];
    case "lone":
      return [];
  }
}
