import { number, table } from "../../markdown.ts";
import type { ListReading } from "../read-list.ts";
import type { AccountReport } from "../sizes/read-account.ts";
import { both, readingCells, readingHead } from "./format.ts";

/** The trees of accounts, and the cost of counting them. */
export const accountsTable = (reports: readonly AccountReport[]) =>
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

/** The lists of an account, and what plain counted queries cost. */
export const pagesTable = (readings: readonly ListReading[]) =>
  table(
    ["filter", "leads", ...readingHead, ...["plain: pages", "read units", "calls", "round trips", "ms"]],
    readings.map((reading) => [
      reading.name,
      number(reading.total),
      ...readingCells(reading),
      ...plainCells(reading),
    ]),
  );

const plainCells = ({ plain }: ListReading) =>
  plain
    ? [plain.pages, both(plain.units), both(plain.calls), both(plain.trips), both(plain.milliseconds, 0)]
    : ["", "", "", "", ""];

const partNames = ["root", "newest rows", "counting", "nodes", "rows"] as const;

/** The mean units of a page by purpose. */
export const partsTable = (reports: readonly AccountReport[]) =>
  table(
    ["leads", "filter", ...partNames],
    reports.flatMap(({ size, readings }) =>
      readings.map(({ name, parts }) => [
        number(size),
        name,
        ...partNames.map((part) => number(parts[part] ?? 0)),
      ]),
    ),
  );

/** The lists of accounts while leads wait to be counted. */
export const longTailTable = (reports: readonly AccountReport[]) =>
  table(
    ["leads", "filter", ...readingHead],
    reports.flatMap(({ size, longTail }) =>
      longTail.map((reading) => [number(size), reading.name, ...readingCells(reading)]),
    ),
  );
