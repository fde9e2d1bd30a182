import { listLeads } from "../../../shared/domain/leads.ts";
import { filteredRange } from "../../../shared/pages/counted-page.ts";
import type { Page, PageRequest } from "../../../shared/pages/page.ts";
import { countedLists } from "../../../shared/pages/tree/counted-list.ts";
import type { LeadsQuery } from "../../../shared/schemas/lead-schemas.ts";
import { type Call, type Metered, metered, type Part, readUnits, roundTrips } from "../../support/meter.ts";
import { seeded } from "../../support/random.ts";
import { type Spread, spread, sum } from "../../support/statistics.ts";
import { plainQuery } from "./plain-query.ts";
import { type Population, rareSource } from "./population.ts";
import { verify } from "./verify.ts";

/** Every combination of filters, with frequent and rare values. */
export const filters: readonly LeadsQuery[] = [
  {},
  { status: "new" },
  { status: "booked" },
  { source: "website" },
  { source: "partner" },
  { status: "new", source: "website" },
  { status: "booked", source: "partner" },
  { source: rareSource },
];

export const filterName = ({ status, source }: LeadsQuery) =>
  [status, source].filter(Boolean).join(" + ") || "none";

export const limit = 20;

/** How many responses are verified in parallel before the pages are timed. */
const parallel = 8;

/** The cost of pages of a list. */
export interface Reading {
  readonly pages: number;
  readonly units: Spread;
  readonly trips: Spread;
  readonly milliseconds: Spread;
}

/** The range of rows that a filter lists. */
export const leadsRange = (account: string, { status, source }: LeadsQuery) =>
  filteredRange({ account, list: countedLists.lead }, { status, sourceOrChannel: source });

/** The cost of the pages of a filtered list, with the tree and with a plain counted query. */
export interface FilterReading {
  readonly filter: LeadsQuery;
  readonly total: number;
  readonly counted: Reading;
  /** The units of the first, the middle and the last page. */
  readonly ends: readonly number[];
  readonly firstTrips: number;
  /** Mean read units of a page by purpose. */
  readonly parts: Readonly<Partial<Record<Part, number>>>;
  readonly plain: Reading | undefined;
}

/** How many random pages are read, and whether plain counted queries are measured too. */
export interface ReadOptions {
  readonly random: number;
  readonly plain: boolean;
}

type ReadPage = (request: PageRequest) => Promise<Page<{ readonly id?: unknown }>>;

/** Reads random pages of a list, and the first, middle and last; all responses are verified before any is timed. */
export async function readFiltered(
  population: Population,
  filter: LeadsQuery,
  { random: randomPages, plain }: ReadOptions,
): Promise<FilterReading> {
  const { account } = population;
  const total = population.matching(filter).length;
  const last = Math.max(1, Math.ceil(total / limit));
  const ends = [1, Math.ceil(last / 2), last];
  const random = seeded(total);
  const drawn = Array.from({ length: randomPages }, () => 1 + Math.floor(random() * last));
  const readCounted: ReadPage = (request) => listLeads(account, filter, request);
  const readPlain: ReadPage = (request) => plainQuery(leadsRange(account, filter), request);
  const all = await measure(population, filter, readCounted, [...ends, ...drawn]);
  const atEnds = all.slice(0, ends.length);
  const some = plain ? plainPages(total, ends, drawn) : [];
  // Plain queries of a long list take long: one is verified beforehand, the others while they are timed.
  const plainPagesRead = await measure(
    population,
    filter,
    readPlain,
    some,
    total > 10_000 ? some.slice(0, 1) : some,
  );
  return {
    ...{ filter, total },
    counted: {
      ...reading(all),
      units: { ...unitSpread(all), median: unitSpread(all.slice(ends.length)).median },
    },
    ends: atEnds.map(({ calls }) => readUnits(calls)),
    firstTrips: roundTrips(atEnds[0]?.calls ?? []),
    parts: unitsByPart(all),
    plain: plain ? reading(plainPagesRead) : undefined,
  };
}

/** Fewer pages of longer lists, because a plain query reads the whole list for each page. */
const plainPages = (total: number, ends: readonly number[], drawn: readonly number[]) => [
  ...ends,
  ...drawn.slice(0, total <= 10_000 ? 47 : total <= 100_000 ? 3 : 0),
];

async function measure(
  population: Population,
  filter: LeadsQuery,
  read: ReadPage,
  pages: readonly number[],
  verified = pages,
): Promise<Metered<unknown>[]> {
  const readVerified = async (page: number) => {
    const measured = await metered(() => read({ page, limit }));
    verify(population, filter, { page, limit }, measured.result);
    return measured;
  };
  const distinct = [...new Set(verified)];
  for (let from = 0; from < distinct.length; from += parallel) {
    await Promise.all(distinct.slice(from, from + parallel).map(readVerified));
  }
  const reads: Metered<unknown>[] = [];
  for (const page of pages) reads.push(await readVerified(page));
  return reads;
}

const unitSpread = (reads: readonly Metered<unknown>[]) => spread(reads.map(({ calls }) => readUnits(calls)));

const reading = (reads: readonly Metered<unknown>[]): Reading => ({
  pages: reads.length,
  units: unitSpread(reads),
  trips: spread(reads.map(({ calls }) => roundTrips(calls))),
  milliseconds: spread(reads.map(({ milliseconds }) => milliseconds)),
});

function unitsByPart(reads: readonly Metered<unknown>[]): Partial<Record<Part, number>> {
  const calls: readonly Call[] = reads.flatMap((read) => read.calls);
  const byPart = Map.groupBy(calls, ({ part }) => part);
  return Object.fromEntries(
    Array.from(byPart, ([part, some]) => [part, sum(some.map(({ read }) => read)) / reads.length]),
  );
}
