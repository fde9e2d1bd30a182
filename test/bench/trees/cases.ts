import type { Statuses } from "../../../shared/pages/tree/statuses.ts";
import { type Limits, limits } from "../../../shared/pages/tree/tree-limits.ts";
import { leadStatuses } from "../../../shared/schemas/lead-schemas.ts";
import type { Arrivals, Mix } from "./rows.ts";
import type { Plan } from "./simulation.ts";

/** A list to simulate, with its name in the report. */
export interface Case extends Plan {
  readonly name: string;
  /** Whether its tree is one of the release before, which only the report compares. */
  readonly before: boolean;
}

/** What the rows of a list are counted by. */
interface Counting {
  readonly name: string;
  readonly mix: Mix;
  readonly statuses: Statuses;
  readonly limits?: Limits;
}

const three: Statuses = { names: leadStatuses, full: false };

const shares = (values: readonly number[]): Mix => new Map(values.map((share, cell) => [cell, share]));

const oneStatus: Counting = { name: "1 status", mix: shares([1]), statuses: { names: ["new"], full: false } };
const skewed: Counting = { name: "80 / 15 / 5 %", mix: shares([80, 15, 5]), statuses: three };
const uniform: Counting = {
  name: "3 × 30 %, 10 % others",
  mix: shares([30, 30, 30, 10]),
  statuses: { ...three, full: true },
};

/** The release before counted each status of each source: its cells were 4 × (2 + source) + status. */
function withSources(name: string, sources: readonly number[], statuses: readonly number[]): Counting {
  const cells = sources.flatMap((source, slot) =>
    statuses.map((share, status) => [4 * (2 + slot) + status, source * share] as const),
  );
  // Its root had the names of the sources, and 100 bytes less of others.
  const names = sources.length * (sourceBytes + 3);
  return {
    ...{ name, mix: new Map(cells), statuses: three },
    limits: { ...limits, rootBytes: limits.rootBytes + 100 - names },
  };
}

/** The bytes of the name of a source. */
const sourceBytes = 16;

const earlier = [
  withSources("5 sources, 60 to 1 % × 80 / 15 / 5 %", [60, 25, 10, 4, 1], [80, 15, 5]),
  withSources("16 sources × 3 statuses, uniform", Array(16).fill(1), [1, 1, 1]),
];

const sizes = [1_000_000, 10_000_000, 100_000_000];
const largest = sizes.slice(-1);

/** All lists: those that arrive in bursts only in the largest size, and those of the release before from 10,000,000. */
export const cases: readonly Case[] = [
  ...list("whole list", [oneStatus, skewed, uniform], sizes, "evenly"),
  ...list("whole list", [oneStatus, skewed, uniform], largest, "in bursts"),
  ...list("source", [oneStatus, uniform], sizes, "evenly"),
  ...list("source", [oneStatus, uniform], largest, "in bursts"),
  ...list("whole list", earlier, sizes.slice(1), "evenly").map((one) => ({ ...one, before: true })),
];

function list(
  kind: Plan["kind"],
  countings: readonly Counting[],
  sizes: readonly number[],
  arrivals: Arrivals,
): readonly Case[] {
  return countings.flatMap((counting) =>
    sizes.map((rows) => ({ ...counting, kind, rows, arrivals, before: false })),
  );
}
