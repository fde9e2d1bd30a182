import { number, type Row, table } from "../markdown.ts";
import type { HotAccountResult } from "./hot-account.ts";
import type { Results } from "./results.ts";
import { rows } from "./run-rows.ts";

/** The part of the report about an account far over its limit. */
export const hotAccountSection = (runs: readonly Results[]): readonly string[] => [
  "## An account far over its limit",
  "An account creates leads at random times, each on an environment that it occupies for so long that as many environments as given serve it at a time. Its rate limit is counted in one item, which serves 1,000 writes a second. *Granted* are all responses but `rate_limited`: at most the limit times the minutes. A neighbour creates five leads a second, first alone for a minute, then beside that account.",
  table(
    [
      ...[
        "requests/s, environments, limit",
        "code",
        "granted",
        "of at most",
        "201",
        "rate_limited",
        "too_many_at_once",
      ],
      ...["throttled calls", "neighbour's 201", "p99 alone (ms)", "beside"],
    ],
    rows(runs, ({ hotAccounts }) => hotAccounts, toRow),
  ),
];

function toRow(result: HotAccountResult, label: string): Row {
  const { plan, hot, alone, beside, granted, throttled } = result;
  const { 201: created = 0, rate_limited: refused = 0, too_many_at_once: busy = 0 } = hot.statuses;
  const { 201: served = 0 } = beside.statuses;
  return [
    ...[
      `${number(plan.requestsPerSecond)}, ${plan.environments}, ${number(plan.rateLimit)} a minute for ${plan.minutes}`,
      label,
    ],
    ...[granted, plan.rateLimit * plan.minutes, created, refused, busy, throttled].map((n) => number(n)),
    ...[`${served} of ${beside.requests}`, number(alone.p99 ?? Number.NaN), number(beside.p99 ?? Number.NaN)],
  ];
}
