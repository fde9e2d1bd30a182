import type { SourceReport, SourcesReport } from "../sources/read-sources.ts";
import { type Check, check, pageChecks } from "./check.ts";

/** The most units and round trips of a page; a tail takes another round trip. */
const most = { units: { median: 11, worst: 17 }, trips: 4 };
const withTail = { ...most, trips: 5 };

/** Limits the cost of every source's list by the size of the account. */
export const sourcesChecks = (accounts: readonly SourcesReport[]): Check[] => [
  ...[...Map.groupBy(accounts, ({ size }) => size)].flatMap(([size, some]) => {
    const of = `${size.toLocaleString("en")} leads, lists of one source`;
    return [
      ...pageChecks(
        of,
        some.flatMap(({ sources }) => readingsOf(sources)),
        most,
      ),
      ...pageChecks(
        `${of}, more leads`,
        some.flatMap(({ grown }) => readingsOf(grown)),
        withTail,
      ),
    ];
  }),
  ...manySourcesChecks(accounts.filter(({ distribution }) => distribution.sources >= 10_000)),
];

const readingsOf = (sources: readonly SourceReport[]) => sources.flatMap(({ readings }) => readings);

const manySourcesChecks = (accounts: readonly SourcesReport[]): Check[] =>
  accounts.length === 0
    ? []
    : [
        check(
          "10,000 sources: bytes of the largest node",
          8191,
          accounts.map(({ tree }) => tree.largestNodeBytes),
        ),
        check(
          "10,000 sources: bytes of the root",
          4095,
          accounts.map(({ tree }) => tree.rootBytes),
        ),
      ];
