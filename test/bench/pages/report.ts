import type { Spread } from "../../support/statistics.ts";
import { number, table } from "../markdown.ts";
import { checkLimits, holds } from "./checks.ts";
import { type FilterReading, filterName } from "./reading.ts";
import type { Results } from "./results.ts";
import type { AccountReport } from "./scenarios.ts";
import type { Writing } from "./write-cost.ts";

const both = ({ median, worst }: Spread, digits = 1) =>
  `${number(median, digits)} / ${number(worst, digits)}`;

/** The page of the documentation that a run writes. */
export const report = (results: Results, at: Date): string =>
  [
    "# What counted pages cost",
    `Measured by \`npm run bench:pages\` (${at.toISOString().slice(0, 10)}, Node ${process.version}) on an embedded DynamoDB that counts units as AWS does; times are those of one machine without a network. Pages have 20 leads: 200 random pages, and the first, the middle and the last; fewer for plain counted queries, which read the whole list for each page. Every response was compared with the leads in memory. \`a / b\` means median / worst.`,
    "![Read units of a page over the size of the account](pages.svg)",
    "## Limits",
    checks(results),
    "## Accounts",
    "Catching up is the maintainer's first invocation for an account of which it has counted no lead: it counts them all. The next batches of the stream find them counted and recount their leaves.",
    accounts(results.accounts),
    ...results.accounts.flatMap(({ size, readings }) => [
      `## Pages of ${number(size)} leads`,
      pages(readings),
    ]),
    "## Where the read units go",
    "The mean of a page. The root and the newest rows are read in parallel, then the nodes down to a leaf, then the page's rows from the leaf's end; *counting* reads a tail that is longer than the newest rows.",
    parts(results.accounts),
    "## While 100 leads wait to be counted",
    "50 random pages, and the first, the middle and the last.",
    duringBurst(results.accounts),
    "## Writing",
    `Units each, in the account of ${number(results.accounts.at(-1)?.size ?? 0)} leads, and for back-dated leads in one of 10,000. The stream delivers a burst's changes to the maintainer one batch of up to 1,000 at a time.`,
    writings([...results.writings, ...results.backdated]),
    "## 10,000 sources in one account",
    `The root takes ${number(results.sources.rootBytes)} bytes, the largest of ${results.sources.nodes} nodes ${number(results.sources.largestNodeBytes)}. The dictionary holds 16 of the sources; the others are listed by plain counted queries.\n`,
  ].join("\n\n");

const checks = (results: Results) =>
  table(
    ["", "at most", "measured", ""],
    checkLimits(results).map((check) => [
      check.what,
      number(check.most),
      number(check.measured, 2),
      holds(check) ? "holds" : check.aim ? "missed (an aim)" : "**does not hold**",
    ]),
  );

const accounts = (reports: readonly AccountReport[]) =>
  table(
    [
      "leads",
      "bytes a lead",
      "tree",
      "root (bytes)",
      "largest node",
      "catching up: read units",
      "write units",
      "s",
      "next batches",
      "read units",
      "write units",
      "s",
      "largest transaction",
    ],
    reports.map(({ size, leadBytes, tree, caughtUp: { first, others } }) => [
      number(size),
      number(leadBytes, 0),
      `${tree.levels} levels, ${number(tree.nodes)} nodes`,
      number(tree.rootBytes),
      number(tree.largestNodeBytes),
      ...[first.read, first.write, first.seconds].map((value) => number(value)),
      others.calls,
      ...[others.read, others.write, others.seconds].map((value) => number(value)),
      Math.max(first.largestTransaction, others.largestTransaction),
    ]),
  );

const pages = (readings: readonly FilterReading[]) =>
  table(
    [
      "filter",
      "leads",
      "read units",
      "first, middle, last",
      "round trips",
      "ms",
      "plain: pages",
      "read units",
      "round trips",
      "ms",
    ],
    readings.map(({ filter, total, counted, ends, plain }) => [
      filterName(filter),
      number(total),
      both(counted.units),
      ends.map((units) => number(units)).join(", "),
      both(counted.trips),
      both(counted.milliseconds),
      ...(plain
        ? [plain.pages, both(plain.units), both(plain.trips), both(plain.milliseconds, 0)]
        : ["", "", "", ""]),
    ]),
  );

const partNames = ["root", "newest rows", "counting", "nodes", "rows"] as const;

const parts = (reports: readonly AccountReport[]) =>
  table(
    ["leads", "filter", ...partNames],
    reports.flatMap(({ size, readings }) =>
      readings.map(({ filter, parts }) => [
        number(size),
        filterName(filter),
        ...partNames.map((part) => number(parts[part] ?? 0)),
      ]),
    ),
  );

const duringBurst = (reports: readonly AccountReport[]) =>
  table(
    ["leads", "filter", "read units", "first, middle, last", "round trips", "ms"],
    reports.flatMap(({ size, longTail }) =>
      longTail.map(({ filter, counted, ends }) => [
        number(size),
        filterName(filter),
        both(counted.units),
        ends.map((units) => number(units)).join(", "),
        both(counted.trips),
        both(counted.milliseconds),
      ]),
    ),
  );

const writings = (all: readonly Writing[]) =>
  table(
    [
      "",
      "number",
      "write units",
      "read units",
      "counting: write units",
      "read units",
      "an invocation of the maintainer: write units",
      "read units",
      "largest transaction",
    ],
    all.map((writing) => [
      writing.what,
      number(writing.count),
      number(writing.write),
      number(writing.read),
      number(writing.extraWrite, 2),
      number(writing.extraRead, 2),
      both(writing.oneWrite),
      both(writing.oneRead),
      writing.largestTransaction,
    ]),
  );
