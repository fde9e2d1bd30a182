import { number, table } from "../../markdown.ts";
import type { Results } from "../parts.ts";
import { checkLimits, holds } from "./checks.ts";
import { accountsTable, longTailTable, pagesTable, partsTable } from "./sizes-tables.ts";
import { eachSourceTable, sourcesTable } from "./sublist-tables.ts";
import { windowsTable } from "./windows.ts";
import { writesTable } from "./writes-table.ts";

/** The page of the documentation that a run writes, without the parts that did not run. */
export const report = (results: Results, at: Date): string =>
  [
    "# What counted pages cost",
    `Measured by \`npm run bench:pages\` (${at.toISOString().slice(0, 10)}, Node ${process.version}) on an embedded DynamoDB that counts units as AWS does; times are those of one machine without a network. Pages have 20 rows: random ones, and the first, the middle and the last; fewer for plain counted queries, which read the whole list for each page. Every response was compared with the rows in memory. \`a / b\` means median / worst.`,
    "![Read units of a page over the size of the list](pages.svg)",
    "## Limits",
    checks(results),
    ...sizes(results),
    ...sources(results),
    ...windows(results),
    ...writes(results),
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

/** Paragraphs about reports, if there are any. */
const section =
  <P extends keyof Results>(part: P, paragraphs: (reports: Results[P]) => readonly string[]) =>
  ({ [part]: reports }: Results) =>
    reports.length > 0 ? paragraphs(reports) : [];

const sizes = section("sizes", (accounts) => [
  "## Accounts",
  "Catching up is the maintainer's first invocation for an account of which it has counted no lead: it counts them all. The next batches of the stream find them counted.",
  accountsTable(accounts),
  ...accounts.flatMap(({ size, readings }) => [`## Pages of ${number(size)} leads`, pagesTable(readings)]),
  "## Where the read units go",
  "The mean of a page. The root and the newest rows are read in parallel, then the nodes, then the page's rows; *counting* reads a tail that is longer than the newest rows.",
  partsTable(accounts),
  "## While 100 leads wait to be counted",
  longTailTable(accounts),
]);

const sources = section("sources", (accounts) => {
  const largest = Math.max(...accounts.map(({ size }) => size));
  return [
    "## Lists of one source",
    "Lists of some sources of an account, each alone, with status new, and with status booked. Shares are *equal*, or *skewed*: the nth source has 1/n of the first one's leads. The figures are the worst median of a list and the worst page of all; *more leads* are measured after 90 leads were added to each of half of the sources. Each page is read by an execution environment that remembers nothing of the list. *Counting* is the maintainer's work until all leads are counted, also in the lists of their sources.",
    sourcesTable(accounts),
    `Each list in accounts of ${number(largest)} leads:`,
    eachSourceTable(accounts.filter(({ size }) => size === largest)),
  ];
});

const windows = section("windows", (accounts) => [
  "## Windows, ids and email addresses",
  "Pages of windows between two random rows, with `createdAfter` and `createdBefore`; those with *no end* have only `createdAfter`. Beside them are pages of the list itself: random ones, or its first page for windows without an end. A plain counted query reads all rows of the window.",
  windowsTable(accounts),
]);

const writes = section("writes", (writings) => [
  "## Writing",
  "Units each, in an account of 100,000 leads, and for back-dated leads in one of 10,000. The stream delivers a burst's changes to the maintainer one batch of up to 1,000 at a time.",
  `${writesTable(writings)}\n`,
]);
