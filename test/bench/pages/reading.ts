import { listLeads } from "../../../shared/domain/leads.ts";
import { filteredRange } from "../../../shared/pages/counted-page.ts";
import { countedQuery } from "../../../shared/pages/counted-query.ts";
import type { Page, PageRequest } from "../../../shared/pages/page.ts";
import { countedLists } from "../../../shared/pages/tree/counted-list.ts";
import type { LeadsQuery } from "../../../shared/schemas/lead-schemas.ts";
import { type Call, type Metered, metered, type Part, readUnits, roundTrips } from "./meter.ts";
import { type Population, rareSource } from "./population.ts";
import { seeded } from "./random.ts";
import { type Spread, spread, sum } from "./statistics.ts";
import { verify } from "./verify.ts";

/** Every combination of filters, of frequent and of seldom values. */
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

/** How many answers are verified at once before the pages are timed. */
const atOnce = 8;

/** What pages of a list cost. */
export interface Reading {
  readonly pages: number;
  readonly units: Spread;
  readonly trips: Spread;
  readonly milliseconds: Spread;
}

/** The rows that list the leads of a filter. */
export const leadsRange = (account: string, { status, source }: LeadsQuery) =>
  filteredRange({ account, list: countedLists.lead }, { status, sourceOrChannel: source });

/** What the pages of a filtered list cost, by the tree and by a plain counted query. */
export interface FilterReading {
  readonly filter: LeadsQuery;
  readonly total: number;
  readonly counted: Reading;
  /** The units of the first, the middle and the last page. */
  readonly ends: readonly number[];
  readonly firstTrips: number;
  /** Read units of a page by what they were for, in the mean. */
  readonly parts: Readonly<Partial<Record<Part, number>>>;
  readonly plain: Reading | undefined;
}

/** How many pages are drawn at random, and whether plain counted queries are measured beside them. */
export interface ReadOptions {
  readonly random: number;
  readonly plain: boolean;
}

type ReadPage = (request: PageRequest) => Promise<Page<{ readonly id?: unknown }>>;

/** Reads random pages of a list, and the first, the middle and the last; all answers are verified before any is timed. */
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
  const ours: ReadPage = (request) => listLeads(account, filter, request);
  const theirs: ReadPage = (request) =>
    countedQuery(leadsRange(account, filter), request, ({ id }) => ({ id }));
  const all = await measure(population, filter, ours, [...ends, ...drawn]);
  const atEnds = all.slice(0, ends.length);
  const some = plain ? plainPages(total, ends, drawn) : [];
  // In a long list one plain query is verified beforehand, the others as they are timed: each takes long.
  const plainly = await measure(population, filter, theirs, some, total > 10_000 ? some.slice(0, 1) : some);
  return {
    ...{ filter, total },
    counted: { ...reading(all), units: { ...unitsOf(all), median: unitsOf(all.slice(ends.length)).median } },
    ends: atEnds.map(({ calls }) => readUnits(calls)),
    firstTrips: roundTrips(atEnds[0]?.calls ?? []),
    parts: partsOf(all),
    plain: plain ? reading(plainly) : undefined,
  };
}

/** Fewer pages of longer lists, for a plain query reads all of a list for each. */
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
  const checked = async (page: number) => {
    const response = await metered(() => read({ page, limit }));
    verify(population, filter, { page, limit }, response.response);
    return response;
  };
  const distinct = [...new Set(verified)];
  for (let from = 0; from < distinct.length; from += atOnce) {
    await Promise.all(distinct.slice(from, from + atOnce).map(checked));
  }
  const responses: Metered<unknown>[] = [];
  for (const page of pages) responses.push(await checked(page));
  return responses;
}

const unitsOf = (responses: readonly Metered<unknown>[]) =>
  spread(responses.map(({ calls }) => readUnits(calls)));

const reading = (responses: readonly Metered<unknown>[]): Reading => ({
  pages: responses.length,
  units: unitsOf(responses),
  trips: spread(responses.map(({ calls }) => roundTrips(calls))),
  milliseconds: spread(responses.map(({ milliseconds }) => milliseconds)),
});

function partsOf(responses: readonly Metered<unknown>[]): Partial<Record<Part, number>> {
  const calls: readonly Call[] = responses.flatMap((response) => response.calls);
  const byPart = Map.groupBy(calls, ({ part }) => part);
  return Object.fromEntries(
    Array.from(byPart, ([part, some]) => [part, sum(some.map(({ read }) => read)) / responses.length]),
  );
}
