import type { Case } from "./cases.ts";
import type { PageCosts } from "./read-pages.ts";
import type { Simulation } from "./simulation.ts";

/** A simulated list, and what its pages cost. */
export interface Result extends Case, Pick<Simulation, "shape" | "rootBytes" | "largestNodeBytes"> {
  /** For each filter; the first one is none. */
  readonly pages: readonly PageCosts[];
}

/** A limit on what pages cost, and the worst of all lists. */
export interface Check {
  readonly what: string;
  readonly most: number;
  readonly measured: number;
}

export const holds = ({ most, measured }: Check) => measured <= most;

/** One consistent read unit. */
const itemBytes = 4096;

/** The limits that pages of every list and filter must hold, whatever its size. */
export function checkLimits(results: readonly Result[]): readonly Check[] {
  const pages = results.flatMap((result) => result.pages);
  const ofKind = (kind: Result["kind"]) => results.filter((result) => result.kind === kind);
  return [
    worst("round trips", 4, pages, ({ trips }) => trips.worst),
    worst("read units, median of random pages", 11, pages, ({ units }) => units.median),
    worst("read units, worst", 17, pages, ({ units }) => units.worst),
    worst("bytes of a root", itemBytes, ofKind("whole list"), ({ rootBytes }) => rootBytes),
    worst("bytes of a root of a source", 2 * itemBytes, ofKind("source"), ({ rootBytes }) => rootBytes),
    worst("bytes of a node", itemBytes, results, ({ largestNodeBytes }) => largestNodeBytes),
  ];
}

const worst = <T>(what: string, most: number, all: readonly T[], of: (one: T) => number): Check => ({
  ...{ what, most },
  measured: Math.max(...all.map(of)),
});
