import { spread, sum } from "../../support/statistics.ts";
import { heapGrowth, ratio } from "./heap-growth.ts";
import type { Round } from "./neighbours.ts";
import { plan } from "./plan.ts";
import type { Results } from "./run.ts";
import type { Tally } from "./tally.ts";

/** A value that could not be measured is NaN, which exceeds every limit. */
export const holds = ({ most, measured }: ReturnType<typeof checkLimits>[number]) => measured <= most;

/** Every limit for the service under load, and the measured value. */
export const checkLimits = (results: Results) => [...loadChecks(results), ...neighbourChecks(results)];

const loadChecks = ({ endurance, levels }: Results) => [
  {
    what: "mixed load: errors, wrong responses and 429s",
    most: 0,
    measured: faultsAndRejections([endurance.tally, ...levels.map(({ tally }) => tally)]),
  },
  ...heapGrowth(endurance).flatMap(({ name, together, largest, late }) => [
    { what: `memory of ${name}: the last tenth over the second`, most: 1.05, measured: ratio(together) },
    { what: `memory of ${name}: the same of its largest environment`, most: 1.05, measured: ratio(largest) },
    { what: `environments of ${name} that started after the first tenth`, most: 0, measured: late },
  ]),
];

function neighbourChecks({ rounds }: Results) {
  const { neighbours, rateLimit } = plan;
  const allowed = rateLimit.requests * (1 + neighbours.seconds / rateLimit.seconds);
  return [
    {
      what: "quiet account: errors, wrong responses and 429s",
      most: 0,
      measured: faultsAndRejections(rounds.flatMap(({ alone, beside }) => [alone, beside])),
    },
    {
      what: "greedy account: errors and wrong responses",
      most: 0,
      measured: failures(rounds.map(({ greedy }) => greedy)),
    },
    {
      what: "greedy account: accepted requests over what its limit allows",
      most: 1,
      measured: Math.max(...rounds.map(({ greedy }) => greedy.all().count / allowed)),
    },
    {
      what: "both accounts: share of processor time in use, which must leave half idle",
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

/** How much longer the quiet account's slowest hundredth of requests took beside the greedy one. */
export const slowdown = ({ alone, beside }: Round) => beside.all().p99 / alone.all().p99;

const failures = (tallies: readonly Tally[]) => sum(tallies.flatMap(({ errors }) => [...errors.values()]));

const faultsAndRejections = (tallies: readonly Tally[]) =>
  failures(tallies) + sum(tallies.map(({ rateLimited }) => rateLimited));

const median = (numbers: readonly number[]) => spread(numbers).median;
