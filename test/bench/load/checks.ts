import { spread, sum } from "../pages/statistics.ts";
import { heapGrowth, ratio } from "./heap-growth.ts";
import type { Round } from "./neighbours.ts";
import type { Results } from "./run.ts";
import type { Tally } from "./tally.ts";

/** A promise about the service under load, and what was measured. */
export interface Check {
  readonly what: string;
  readonly most: number;
  readonly measured: number;
}

/** What could not be measured is no number: it holds nothing. */
export const holds = ({ most, measured }: Check) => measured <= most;

/** Every promise. */
export const checksOf = (results: Results): Check[] => [...loadChecks(results), ...neighbourChecks(results)];

const loadChecks = ({ endurance, levels }: Results): Check[] => [
  {
    what: "mixed load: errors, wrong answers and refusals",
    most: 0,
    measured: amiss([endurance.tally, ...levels.map(({ tally }) => tally)]),
  },
  ...heapGrowth(endurance).flatMap(({ name, together, largest, late }) => [
    { what: `memory of ${name}: the last tenth over the second`, most: 1.05, measured: ratio(together) },
    { what: `memory of ${name}: the same of its largest environment`, most: 1.05, measured: ratio(largest) },
    { what: `environments of ${name} that started after the first tenth`, most: 0, measured: late },
  ]),
];

function neighbourChecks({ rounds, plan: { neighbours, rateLimit } }: Results): Check[] {
  const allowed = rateLimit.requests * (1 + neighbours.seconds / rateLimit.seconds);
  return [
    {
      what: "quiet account: errors, wrong answers and refusals",
      most: 0,
      measured: amiss(rounds.flatMap(({ alone, beside }) => [alone, beside])),
    },
    {
      what: "greedy account: errors and wrong answers",
      most: 0,
      measured: failures(rounds.map(({ greedy }) => greedy)),
    },
    {
      what: "greedy account: requests let through over what its limit allows",
      most: 1,
      measured: Math.max(...rounds.map(({ greedy }) => greedy.all().count / allowed)),
    },
    {
      what: "both accounts: share of the machine's processor time in use, which must leave half to spare",
      most: 0.5,
      measured: 1 - Math.min(...rounds.map(({ idle }) => idle)),
    },
    {
      what: "quiet account: p99 beside the greedy one over p99 alone, median of the rounds",
      most: 1.5,
      measured: median(rounds.map(slowdown)),
    },
  ];
}

/** How much longer the slowest of a hundred of the quiet account's requests took beside the greedy one. */
export const slowdown = ({ alone, beside }: Round) => beside.all().p99 / alone.all().p99;

const failures = (tallies: readonly Tally[]) => sum(tallies.flatMap(({ errors }) => [...errors.values()]));

const amiss = (tallies: readonly Tally[]) => failures(tallies) + sum(tallies.map(({ refused }) => refused));

const median = (numbers: readonly number[]) => spread(numbers).median;
