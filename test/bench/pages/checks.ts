import { filterName, limit } from "./reading.ts";
import type { Results } from "./results.ts";
import type { AccountReport } from "./scenarios.ts";
import type { Writing } from "./write-cost.ts";

/** A limit on the cost of pages and changes, and the worst measured value. */
export interface Check {
  readonly what: string;
  readonly most: number;
  readonly measured: number;
  /** Exceeding an aim is not a failure. */
  readonly aim?: boolean;
}

export const holds = ({ most, measured }: Check) => measured <= most;

/** The size from which limits on pages apply, and the size of the account to compare with. */
const large = 100_000;
const base = 10_000;

const check = (what: string, most: number, measured: readonly number[]): Check => ({
  ...{ what, most },
  measured: Math.max(...measured),
});

/** Every limit for which the run has figures. */
export const checkLimits = ({ accounts, writings, sources, backdated }: Results): Check[] => [
  ...accounts.filter(({ size }) => size >= large).flatMap(pageChecks),
  ...accounts.filter(({ size }) => size >= large).flatMap((account) => growthChecks(account, accounts)),
  ...accounts.flatMap(firstPageChecks),
  ...writings.flatMap(writeChecks),
  ...backdated.flatMap(({ what, extraRead, largestTransaction }) => [
    check(`${what}: read units each`, 8, [extraRead]),
    check(`${what}: items of a transaction`, 100, [largestTransaction]),
  ]),
  check("10,000 sources: bytes of the largest node", 8191, [sources.largestNodeBytes]),
  check("10,000 sources: bytes of the root", 4095, [sources.rootBytes]),
];

const leads = ({ size }: AccountReport) => `${size.toLocaleString("en")} leads`;

function pageChecks(account: AccountReport): Check[] {
  const of = leads(account);
  const counted = account.readings.map(({ filter, counted }) => ({ ...counted, name: filterName(filter) }));
  const units = counted.filter(({ name }) => name === "none").map(({ units }) => units);
  const filtered = counted.filter(({ name }) => name !== "none").map(({ units }) => units);
  const median = ({ median }: { readonly median: number }) => median;
  const worst = ({ worst }: { readonly worst: number }) => worst;
  return [
    check(`${of}, unfiltered: median units`, 11, units.map(median)),
    check(`${of}, unfiltered: worst units`, 17, units.map(worst)),
    check(`${of}, filtered: median units`, 7, filtered.map(median)),
    check(`${of}, filtered: worst units`, 11, filtered.map(worst)),
    check(
      `${of}: round trips`,
      4,
      counted.map(({ trips }) => trips.worst),
    ),
    check(
      `${of}, 100 of them in the tail: round trips`,
      5,
      account.longTail.map(({ counted }) => counted.trips.worst),
    ),
  ];
}

/**
 * Limits how much more pages of a filter cost in a large account than in a smaller one. Lists of at most two pages in
 * the smaller account are left out: they are short, or read without the tree.
 */
function growthChecks(account: AccountReport, accounts: readonly AccountReport[]): Check[] {
  const readings = accounts.find(({ size }) => size === base)?.readings ?? [];
  const smaller = readings.filter(({ total }) => total > 2 * limit);
  return account.readings.flatMap(({ filter, counted }) => {
    const name = filterName(filter);
    const other = smaller.find((reading) => filterName(reading.filter) === name)?.counted;
    if (!other) return [];
    const what = `${leads(account)}, filter ${name}: median over that of 10,000 leads`;
    return [check(what, 1.5, [counted.units.median / other.units.median])];
  });
}

function firstPageChecks(account: AccountReport): Check[] {
  const { reading, ownUnits } = account.shortTail;
  const of = `${leads(account)}, 16 of them in the tail, first page`;
  return [
    check(`${of}: units over the rows' own`, 1, [(reading.ends[0] ?? Number.NaN) - ownUnits]),
    check(`${of}: round trips`, 1, [reading.firstTrips]),
  ];
}

function writeChecks({ kind, what, extraWrite, extraRead, oneWrite, oneRead }: Writing): Check[] {
  switch (kind) {
    case "uncounted":
      return [check(`${what}: units more each`, 0, [extraWrite + extraRead])];
    case "scattered":
      return [
        { ...check(`${what}: write units, median`, 3, [oneWrite.median]), aim: true },
        { ...check(`${what}: read units, median`, 8, [oneRead.median]), aim: true },
      ];
    case "burst":
      return [check(`${what}: write units more each`, 0.5, [extraWrite])];
    default:
      return [];
  }
}
