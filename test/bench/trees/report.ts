import { number, type Row, table } from "../markdown.ts";
import { type Check, checkLimits, holds, type Result } from "./checks.ts";
import { limit, type PageCosts } from "./read-pages.ts";
import { rowBytes } from "./simulated-table.ts";

/** The page of the documentation. @param randomPages how many pages of each filter were read, besides three fixed ones */
export const report = (results: readonly Result[], randomPages: number): string =>
  `${[
    "# The trees of very long lists",
    `Simulated by \`npm run bench:trees\`: the tree of each list is built by the maintainer's own code (\`tree-edit.ts\`) from computed rows of ${rowBytes} bytes, which arrive over three years, and read by the lists' own code (\`counted-page.ts\`). The table keeps the nodes and computes everything else. Pages have ${limit} rows: ${randomPages} random pages of each filter, and the first, the middle and the last. The rows and the total of each page were compared with the expected ones. No row is in the tail, and none was back-dated.`,
    "*Whole list* is the tree of an account's leads, whose leaves count 96 rows by status. *Source* is the tree of one source, which has all of the rows; its lowest entries are the rows themselves. Rows *in bursts* arrive 10,000 at once, two in each millisecond.",
    "## Limits",
    "For all lists, filters and pages below:",
    checkTable(checkLimits(results)),
    "## Trees",
    "Nodes and mean entries of a node are those of each level, the highest first. An item of up to 4,096 bytes takes one read unit. The last column estimates how many rows the tree can have before it needs another level. Another level costs a page one round trip, except from two levels to three in the tree of a source: there lists do not read the nodes of rows, but up to a node of rows more.",
    treeTable(results),
    "## Pages",
    "`a / b` means median / worst. The read units of the median are those of random pages. *Rows skipped* were read with a page although they are before it. *Each status* is the most expensive of the lists of one status.",
    pageTable(results),
  ].join("\n\n")}\n`;

const checkTable = (checks: readonly Check[]) =>
  table(
    ["", "at most", "measured", ""],
    checks.map((check) => [
      ...[check.what, number(check.most), number(check.measured)],
      holds(check) ? "holds" : "missed",
    ]),
  );

const nameOf = ({ kind, name, arrivals, rows }: Result): Row => [
  kind,
  name,
  arrivals === "evenly" ? "evenly" : "bursts",
  number(rows),
];

const treeTable = (results: readonly Result[]) =>
  table(
    ["tree", "statuses", "rows arrive", "rows", "levels", "nodes", "entries"].concat(
      ...["root (bytes)", "root entries", "largest node (bytes)", "rows of these levels"],
    ),
    results.map((result) => [
      ...nameOf(result),
      ...[result.shape.levels.length, countNodes(result.shape.levels)],
      result.shape.levels.map(({ meanEntries }) => number(meanEntries, 0)).join(" + "),
      ...[number(result.rootBytes), result.shape.rootEntries, number(result.largestNodeBytes)],
      `${number(result.shape.mostRows / 1e6, 0)} M`,
    ]),
  );

const countNodes = (levels: Result["shape"]["levels"]) =>
  levels.map(({ nodes }) => number(nodes)).join(" + ");

const pageTable = (results: readonly Result[]) =>
  table(
    ["tree", "statuses", "rows arrive", "rows", "list", "round trips", "calls"].concat(
      ...["read units", "of the tree", "rows skipped", "first, middle, last page"],
    ),
    results.flatMap((result) => {
      const [all, ...statuses] = result.pages;
      const dearest = statuses.toSorted(
        (a, b) => b.units.median - a.units.median || b.units.worst - a.units.worst,
      )[0];
      return [
        ...(all ? [[...nameOf(result), "all", ...costs(all)]] : []),
        ...(dearest ? [[...nameOf(result), "each status", ...costs(dearest)]] : []),
      ];
    }),
  );

const costs = ({ trips, calls, units, treeUnits, skipped, ends }: PageCosts): Row => [
  ...[trips.worst, calls.worst, spreadText(units), number(treeUnits.worst), spreadText(skipped)],
  ends.map((units) => number(units)).join(", "),
];

const spreadText = ({ median, worst }: PageCosts["units"]) => `${number(median)} / ${number(worst)}`;
