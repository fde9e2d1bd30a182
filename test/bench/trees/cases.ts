import type { Statuses } from "../../../shared/pages/tree/statuses.ts";
import { leadStatuses } from "../../../shared/schemas/lead-schemas.ts";
import type { Arrivals, Mix } from "./rows.ts";
import type { Plan } from "./simulation.ts";

/** A list to simulate, with its name in the report. */
export interface Case extends Plan {
  readonly name: string;
}

/** What the rows of a list are counted by. */
interface Counting {
  readonly name: string;
  readonly mix: Mix;
  readonly statuses: Statuses;
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

const sizes = [1_000_000, 10_000_000, 100_000_000];
const largest = sizes.slice(-1);

/** All lists: those that arrive in bursts only in the largest size. */
export const cases: readonly Case[] = [
  ...list("whole list", [oneStatus, skewed, uniform], sizes, "evenly"),
  ...list("whole list", [oneStatus, skewed, uniform], largest, "in bursts"),
  ...list("source", [oneStatus, uniform], sizes, "evenly"),
  ...list("source", [oneStatus, uniform], largest, "in bursts"),
];

function list(
  kind: Plan["kind"],
  countings: readonly Counting[],
  sizes: readonly number[],
  arrivals: Arrivals,
): readonly Case[] {
  return countings.flatMap((counting) => sizes.map((rows) => ({ ...counting, kind, rows, arrivals })));
}
