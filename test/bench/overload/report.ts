import { number, type Row, table } from "../markdown.ts";
import { hotAccountSection } from "./hot-account-report.ts";
import { oneLeadSection } from "./one-lead-report.ts";
import type { Results } from "./results.ts";
import { rows } from "./run-rows.ts";
import type { SteadyPlan, SteadyResult } from "./steady.ts";

/** The page of the documentation about one run, or about one before a change and one after it. */
export const report = (runs: readonly Results[]): string =>
  `${[
    "# The service under overload",
    describeRuns(runs),
    "![The age of the stream over time](overload.svg)",
    "## Steady loads",
    "One account sends creates and lists at random times with these mean rates, and does not wait for responses; a neighbour on the same shard of the stream sends one of each a second. A load ends early when less than 1 % of the lists were answered for three minutes. After it, the account sends five of each a second: *recovery* is the time until every list is answered. *Discarded* records of the stream went to the failure queue. Ages are the largest ones of the oldest change that was not delivered, and of the oldest lead that was not counted.",
    steadyTable(runs),
    "What the lists of the account cost, and how many execution environments it needed. Calls include the second attempts of the SDK:",
    steadyCosts(runs),
    "## An outage of the maintainer",
    "The maintainer does not run until so many leads are not counted, while the account sends ten creates and ten lists a second. *Recovery* is the time after the outage until every list is answered and at most 300 leads are not counted.",
    outageTable(runs),
    "## What a list costs",
    "Ten lists a second while leads are created at these rates, in an account with 5,000 leads: lists of the whole account, or of one of its sources, which have equal shares. Without creates, only first pages.",
    costTable(runs),
    ...oneLeadSection(runs),
    ...hotAccountSection(runs),
    "## Assumptions",
    assumptions,
  ].join("\n\n")}\n`;

const describeRuns = (runs: readonly Results[]) => {
  const times = runs.map(({ label, seconds }) => `${label}: ${number(seconds / 60, 0)} min`).join("; ");
  return `Simulated by \`npm run bench:overload\` in virtual time (${times} of real time): the bundled functions run unchanged on a table in memory that serves 3,000 read and 1,000 write units a second for each partition key, of the table and of each index, as AWS documents. Every page was compared with the table: its total must lie between the leads stored when it was requested and those stored when it was answered.`;
};

const percent = (share: number | null) => (share === null ? "–" : `${number(share * 100)} %`);
const orNone = (value: number | null) => (value === null ? "–" : number(value, 0));
const recovered = (seconds: number | null) => (seconds === null ? "never" : number(seconds, 0));

const describeLoad = ({ createsPerSecond, listsPerSecond, leadBytes, burstSeconds }: SteadyPlan) =>
  `${createsPerSecond} + ${listsPerSecond}/s, ${number(leadBytes)} B, burst ${burstSeconds} s`;

const steadyTable = (runs: readonly Results[]) =>
  table(
    [
      ...[
        "creates + lists",
        "code",
        "creates stored",
        "lists exact",
        "refused",
        "wrong",
        "neighbour's lists exact",
      ],
      ...["stream age (s)", "tail age (s)", "discarded", "recovery (s)"],
    ],
    rows(runs, ({ steady }) => steady, steadyRow),
  );

function steadyRow(result: SteadyResult, label: string): Row {
  const { plan, seconds, collapsed, creates, lists, neighbourLists } = result;
  const end = collapsed ? `, collapsed within ${seconds / 60} min` : "";
  return [
    ...[`${describeLoad(plan)}${end}`, label, percent(creates.answered), percent(lists.answered)],
    ...[percent(lists.busy), lists.wrong + lists.failed, percent(neighbourLists.answered)],
    ...[number(result.streamAge, 0), number(result.tailAge, 0), result.discarded, recovered(result.recovery)],
  ];
}

const steadyCosts = (runs: readonly Results[]) =>
  table(
    ["creates + lists", "code", "units, median", "p99", "calls, median", "p99", "most", "environments"],
    rows(
      runs,
      ({ steady }) => steady,
      ({ plan, costs: { units, calls }, environments }, label) => [
        ...[describeLoad(plan), label, orNone(units.median), orNone(units.p99)],
        ...[orNone(calls.median), orNone(calls.p99), calls.max, environments.lists],
      ],
    ),
  );

const outageTable = (runs: readonly Results[]) =>
  table(
    ["tail", "code", "lists exact in the outage", "after it", "wrong", "discarded", "recovery (s)"],
    rows(
      runs,
      ({ outages }) => outages,
      ({ plan, during, after, discarded, recovery }, label) => [
        ...[`${number(plan.rows)} leads of ${number(plan.leadBytes)} B`, label],
        ...[percent(during.answered), percent(after.answered)],
        ...[during.wrong + during.failed + after.wrong + after.failed, discarded, recovered(recovery)],
      ],
    ),
  );

function describeList(sources: number | undefined): string {
  if (sources === undefined) return "the account";
  return sources === 1 ? "its only source" : `one of ${number(sources)} sources`;
}

const costTable = (runs: readonly Results[]) =>
  table(
    [
      "creates/s",
      "lists of",
      "lead",
      "code",
      "exact",
      "wrong",
      "units, median",
      "p99",
      "calls, median",
      "p99",
      "most",
    ],
    rows(
      runs,
      ({ costs }) => costs,
      ({ createsPerSecond, leadBytes, sources, shares, costs: { units, calls } }, label) => [
        ...[createsPerSecond, describeList(sources)],
        ...[`${number(leadBytes)} B`, label, percent(shares.answered)],
        ...[shares.wrong + shares.failed, orNone(units.median), orNone(units.p99)],
        ...[orNone(calls.median), orNone(calls.p99), calls.max],
      ],
    ),
  );

const assumptions = [
  "AWS does not document how long calls take: each takes 4 ms and 0.2 ms for each read unit. An execution environment starts in 250 ms.",
  "A call is admitted while its partition keys have anything left, and then takes all its units. Unused capacity is kept for one second, or for 300 seconds where a burst is given: AWS keeps up to 300 seconds of it, and promises none. The other partition keys of a partition, adaptive capacity and the limits of the account are left out.",
  "In the lists of one lead, the gateway and the authorizer take 5 ms of each request, and requests wait for a free environment. The other scenarios have neither a rate limit nor a limit of environments.",
  "Handlers take no time of their own, an environment that has responded is not frozen, and indexes never lag.",
  "One list in five is not for the first page: half of these are for pages 2 to 5, the others for any page.",
]
  .map((assumption) => `- ${assumption}`)
  .join("\n");
