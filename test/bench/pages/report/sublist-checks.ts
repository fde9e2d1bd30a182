import type { NamesReport } from "../names/read-names.ts";
import type { SourceReport, SourcesReport } from "../sources/read-sources.ts";
import { type Check, check, pageChecks } from "./check.ts";

/** The most units and round trips of a page; a tail takes another round trip. */
const most = { units: { median: 11, worst: 17 }, trips: 4 };
const withTail = { ...most, trips: 5 };

/** How much the cost of other lists may change when hostile names come, in units. */
const unchanged = 0.5;

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

/** The lists that have the rows with the names, which are long and cost more to read themselves. */
const withNames = ["none", "new"];

/**
 * Limits what hostile names change for other lists, and the lists of a source that comes after them. Lists that have the
 * rows with the names are compared last, when these are no longer the newest, which each page reads.
 */
export function namesChecks([before, ...after]: readonly NamesReport[]): Check[] {
  if (!before) return [];
  return after.flatMap(({ stage, tree, readings, newcomer }) => [
    check(
      `hostile names, ${stage}: change of another list's median units`,
      unchanged,
      readings
        .filter(({ name }) => newcomer.length > 0 || !withNames.includes(name))
        .map(({ name, counted }) => Math.abs(counted.units.median - medianOf(before, name))),
    ),
    check(`hostile names, ${stage}: bytes of the root`, 4095, [tree.rootBytes]),
    ...pageChecks(`hostile names, ${stage}, its lists`, newcomer, most),
  ]);
}

const medianOf = ({ readings }: NamesReport, list: string) =>
  readings.find(({ name }) => name === list)?.counted.units.median ?? Number.NaN;
