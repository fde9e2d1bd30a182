import { number, table } from "../../markdown.ts";
import type { SourceReport, SourcesReport } from "../sources/read-sources.ts";
import { both, units, worstOf } from "./format.ts";

const summaryHead = ["read units", "calls", "round trips"] as const;

/** The lists of one source of each account, together. */
export const sourcesTable = (reports: readonly SourcesReport[]) =>
  table(
    [
      "leads",
      "sources",
      "shares",
      "sources read",
      "their leads",
      ...summaryHead,
      ...summaryHead.map((head) => `more leads: ${head}`),
      "counting: read units",
      "write units",
      "s",
    ],
    reports.map((report) => [
      number(report.size),
      number(report.distribution.sources),
      shares(report),
      report.sources.length,
      `${number(report.sources.at(-1)?.count ?? 0)} to ${number(report.sources[0]?.count ?? 0)}`,
      ...summary(report.sources),
      ...summary(report.grown),
      ...[report.counting.read, report.counting.write, report.counting.seconds].map((value) => number(value)),
    ]),
  );

const shares = ({ distribution: { sources, skewed } }: SourcesReport) =>
  sources === 1 ? "" : skewed ? "skewed" : "equal";

function summary(sources: readonly SourceReport[]) {
  const readings = sources.flatMap(({ readings }) => readings);
  return [
    both(worstOf(readings, ({ units }) => units)),
    both(worstOf(readings, ({ calls }) => calls)),
    both(worstOf(readings, ({ trips }) => trips)),
  ];
}

/** Each list of one source of the largest accounts. */
export const eachSourceTable = (reports: readonly SourcesReport[]) =>
  table(
    [
      "sources",
      "shares",
      "rank",
      "leads of the source",
      ...["read units", "with status new", "booked", "calls", "round trips"],
    ],
    reports.flatMap((report) =>
      report.sources.map(({ rank, count, readings }) => [
        number(report.distribution.sources),
        shares(report),
        number(rank),
        number(count),
        ...readings.map(({ counted }) => units(counted)),
        both(worstOf(readings, ({ calls }) => calls)),
        both(worstOf(readings, ({ trips }) => trips)),
      ]),
    ),
  );
