import { limit } from "../rows.ts";
import type { AccountReport } from "../sizes/read-account.ts";
import { type Check, check, pageChecks } from "./check.ts";

/** The size from which limits on pages apply, and the size of the account to compare with. */
const large = 100_000;
const base = 10_000;

/** Limits the cost of the lists of accounts by size. */
export const sizesChecks = (accounts: readonly AccountReport[]): Check[] => [
  ...accounts.filter(({ size }) => size >= large).flatMap(accountChecks),
  ...accounts.filter(({ size }) => size >= large).flatMap((account) => growthChecks(account, accounts)),
  ...accounts.flatMap(firstPageChecks),
];

const leads = ({ size }: AccountReport) => `${size.toLocaleString("en")} leads`;

const statuses = ["new", "booked"];

function accountChecks(account: AccountReport): Check[] {
  const of = leads(account);
  const { readings, longTail } = account;
  const unfiltered = readings.filter(({ name }) => name === "none");
  const byStatus = readings.filter(({ name }) => statuses.includes(name));
  const bySource = readings.filter((reading) => ![...unfiltered, ...byStatus].includes(reading));
  return [
    ...pageChecks(`${of}, unfiltered`, unfiltered, { units: { median: 11, worst: 17 }, trips: 4 }),
    ...pageChecks(`${of}, by status`, byStatus, { units: { median: 7, worst: 11 }, trips: 4 }),
    ...pageChecks(`${of}, by source`, bySource, { units: { median: 11, worst: 17 }, trips: 4 }),
    ...pageChecks(`${of}, 100 of them in the tail`, longTail, { trips: 5 }),
  ];
}

/**
 * Limits how much more pages of a filter cost in a large account than in a smaller one. Lists of at most two pages in
 * the smaller account are left out: they are short, or read without the tree.
 */
function growthChecks(account: AccountReport, accounts: readonly AccountReport[]): Check[] {
  const readings = accounts.find(({ size }) => size === base)?.readings ?? [];
  const smaller = readings.filter(({ total }) => total > 2 * limit);
  return account.readings.flatMap(({ name, counted }) => {
    const other = smaller.find((reading) => reading.name === name)?.counted;
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
