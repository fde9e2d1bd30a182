import { number, type Row, table } from "../markdown.ts";
import type { Results } from "./results.ts";
import { hasSucceeded, type Trial } from "./trial.ts";

/** The page of the documentation about one run, or about one before a change and one after it. */
export const report = (runs: readonly Results[]): string =>
  `${[
    "# Rebuilding and verifying the counts of a large account",
    describeRuns(runs),
    "A trial succeeds if the second rebuild continues the first, the second `counts verify` finds no differences, and no request gets a wrong response or an error other than the documented 503.",
    ...runs.map(describeSuccess),
    "## Rebuild",
    "The first run of `counts rebuild` is killed when it has counted 30 to 70 % of the leads: from then on, none of its calls returns. Five to sixty seconds later it is run again, and must continue, not start anew; its time includes the minute for which it keeps the old tree. *Killed at* is the share of the rows that it had counted, and what `counts status` said then.",
    rebuildTable(runs),
    "## Verify",
    "Then `counts verify` runs, is killed as well, and is run again. It must find no differences.",
    verifyTable(runs),
    "## The load beside them",
    "All requests from a minute before the commands until they have ended. *Refused* lists returned 503 with `Retry-After`; a *wrong* one had a wrong total or page. Throttled calls are those of the commands and of the functions.",
    loadTable(runs),
    "## Assumptions",
    assumptions,
  ].join("\n\n")}\n`;

const describeRuns = (runs: readonly Results[]) => {
  const times = runs.map(({ label, seconds }) => `${label}: ${number(seconds / 60, 0)} min`).join("; ");
  const [leads = 0] = runs.map((run) => run.leads);
  return `Simulated by \`npm run bench:rebuild\` in virtual time (${times} of real time): the commands, the bundled functions and the maintainer run unchanged on a table in memory with an account of ${number(leads)} leads of 1 KB. The table serves 3,000 read and 1,000 write units a second for each partition key, of the table and of each index, without bursts; the commands use at most 1,500 read units a second, their default. Meanwhile the account's clients send ten creates and ten lists a second at random times, and the status of an old lead changes every second. Every page was compared with the table: its total must lie between the leads stored when it was requested and those stored when it was answered.`;
};

const describeSuccess = ({ label, trials }: Results) =>
  `**${label}**: ${trials.filter(hasSucceeded).length} of ${trials.length} trials succeeded.`;

const percent = (share: number) => `${number(share * 100)} %`;

/** The same cells of all trials of all runs, after those that name the trial. */
const trialTable = (runs: readonly Results[], head: Row, toRow: (trial: Trial) => Row) =>
  table(
    ["code", "seed", "sources", ...head],
    runs.flatMap(({ label, trials }) =>
      trials.map((trial) => [label, trial.seed, trial.sources, ...toRow(trial)]),
    ),
  );

const rebuildTable = (runs: readonly Results[]) =>
  trialTable(
    runs,
    ["killed after (s)", "killed at", "`counts status`", "continued", "second run (s)", "result"],
    ({ rebuild: { killedAfter, share, status, continued, seconds, failure } }) => [
      ...(killedAfter === null ? ["ended before", "–"] : [killedAfter, percent(share)]),
      status ? `${status.percent} %, ${status.secondsSinceProgress} s since progress` : "–",
      ...[continued ? "yes" : "no", seconds, failure ?? "rebuilt"],
    ],
  );

const verifyTable = (runs: readonly Results[]) =>
  trialTable(
    runs,
    ["killed after (s)", "killed at", "second run (s)", "differences"],
    ({ verify: { killedAfter, share, seconds, failure }, differences }) => [
      ...(killedAfter === null ? ["ended before", "–"] : [killedAfter, percent(share)]),
      ...[seconds, differences ?? failure ?? "–"],
    ],
  );

const loadTable = (runs: readonly Results[]) =>
  trialTable(
    runs,
    ["throttled calls", "lists", "refused", "failed", "wrong", "creates", "refused or failed"],
    ({ throttled, lists, creates }) => [
      ...[number(throttled), number(lists.requests), percent(lists.busy), lists.failed, lists.wrong],
      ...[number(creates.requests), number(creates.requests * creates.busy + creates.failed, 0)],
    ],
  );

const assumptions = [
  "AWS does not document how long calls take: each takes 4 ms and 0.2 ms for each read unit. An execution environment starts in 250 ms.",
  "A call is admitted while its partition keys have anything left, and then takes all its units. The other partition keys of a partition, adaptive capacity and the limits of the account are left out.",
  "The code takes no time of its own, indexes never lag, and the clocks do not differ.",
  "One list in five is not for the first page: half of these are for pages 2 to 5, the others for any page.",
]
  .map((assumption) => `- ${assumption}`)
  .join("\n");
