import { number, type Row, table } from "../markdown.ts";
import type { GreedyResult } from "./greedy.ts";
import type { LoneListsResult } from "./lone-lists.ts";
import type { Results } from "./results.ts";
import { rows } from "./run-rows.ts";
import { largest } from "./summary.ts";

/** The part of the report about the conversations of one lead. */
export const oneLeadSection = (runs: readonly Results[]): readonly string[] => [
  "## Lists of one lead",
  "A lead has 5,000 conversations, each on a channel of its own. One list at a time, for the first, the second, the last page and one past the end, with limits of 1, 20 and 100: the most table calls and read units of a list, of which one to three calls are for the rate limits. The calls of a list include those that it made after a refusal in place of its result.",
  loneListsTable(runs),
  "Twelve connections of this account request one conversation of the lead with a status that none has (`limit=1&status=nobody`) for a minute, each as soon as it has the response to the one before, even a refusal. A neighbour with 200 conversations lists them ten times a second at random times, first alone, then beside that account. At most ten environments of all functions together run at once, as in a new AWS account; other requests wait. The rate limit is the number of requests of each account in a minute.",
  neighbourTable(runs),
  "The account with the twelve connections:",
  greedyTable(runs),
];

const loneListsTable = (runs: readonly Results[]) =>
  table(
    ["filter", "code", "calls, most", "units, most", "lists exact", "refused", "wrong"],
    rows(runs, ({ loneLists }) => loneLists, loneListsRow),
  );

function loneListsRow({ filter, lists }: LoneListsResult, label: string): Row {
  const exact = lists.filter((list) => list.exact).length;
  const refused = lists.filter(({ status }) => status !== 200).length;
  return [
    ...[filter ? `\`${filter}\`` : "none", label],
    ...[largest(lists.map(({ calls }) => calls)), largest(lists.map(({ readUnits }) => readUnits))].map(
      (most) => number(most),
    ),
    ...[`${exact} of ${lists.length}`, refused, lists.length - exact - refused],
  ];
}

const neighbourTable = (runs: readonly Results[]) =>
  table(
    [
      ...["rate limit", "code", "p50 alone (ms)", "beside", "ratio", "p99 alone (ms)", "beside", "ratio"],
      ...["longest beside (ms)", "exact beside"],
    ],
    rows(runs, ({ greedy }) => greedy, neighbourRow),
  );

function neighbourRow({ plan, alone, beside }: GreedyResult, label: string): Row {
  const compare = (kind: "p50" | "p99") => {
    const [before, after] = [alone[kind] ?? Number.NaN, beside[kind] ?? Number.NaN];
    return [number(before), number(after), number(after / before, 2)];
  };
  return [
    ...[number(plan.rateLimit), label, ...compare("p50"), ...compare("p99")],
    ...[number(beside.longest), `${beside.exact} of ${beside.requests}`],
  ];
}

const greedyTable = (runs: readonly Results[]) =>
  table(
    ["rate limit", "code", "200", "429", "503", "longest (s)", "units/s"],
    rows(
      runs,
      ({ greedy }) => greedy,
      ({ plan, statuses, longest, unitsPerSecond }, label) => [
        ...[number(plan.rateLimit), label],
        ...[200, 429, 503].map((status) => number(statuses[status] ?? 0)),
        ...[number(longest), number(unitsPerSecond, 0)],
      ],
    ),
  );
