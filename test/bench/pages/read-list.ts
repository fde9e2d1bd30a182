import { TooExpensiveError } from "../../../shared/dynamodb/dynamodb-errors.ts";
import type { PageRequest } from "../../../shared/pages/page.ts";
import { forgetTails } from "../../../shared/pages/read/tail.ts";
import { type Metered, metered, type Part, readUnits, roundTrips } from "../../support/meter.ts";
import { seeded } from "../../support/random.ts";
import { type Spread, spread, sum } from "../../support/statistics.ts";
import type { MeasuredList } from "./measured-list.ts";
import { plainQuery } from "./plain-query.ts";
import { limit } from "./rows.ts";
import { verify } from "./verify.ts";

/** How many responses are verified in parallel before the pages are timed. */
const parallel = 8;

/** The cost of pages of a list. */
export interface Reading {
  readonly pages: number;
  /** How many of them were refused because they would cost too much. */
  readonly refused: number;
  readonly units: Spread;
  readonly calls: Spread;
  readonly trips: Spread;
  readonly milliseconds: Spread;
}

/** The cost of the pages of a list, with the tree and with a plain counted query. */
export interface ListReading {
  readonly name: string;
  readonly total: number;
  readonly counted: Reading;
  /** The units of the first, the middle and the last page. */
  readonly ends: readonly number[];
  readonly firstTrips: number;
  /** Mean read units of a page by purpose. */
  readonly parts: Readonly<Partial<Record<Part, number>>>;
  readonly plain?: Reading | undefined;
}

/** Which pages are read. */
export interface ReadOptions {
  /** How many random ones; shorter lists are read completely. */
  readonly random: number;
  /** How many of the newest rows are not on them; whole pages. */
  readonly skip?: number;
  /** Whether each page is read as by an execution environment that remembers nothing. */
  readonly cold?: boolean;
  /** Whether all responses are verified in parallel before any is timed. */
  readonly inParallel?: boolean;
  /** How many of the pages are read with plain counted queries, too. */
  readonly plain?: number;
}

type Read = Metered<unknown> & { readonly refused: boolean };

/** Reads random pages of a list, and the first, middle and last; every response is verified. */
export async function readList(
  list: MeasuredList,
  { random, skip = 0, cold = false, inParallel = false, plain = 0 }: ReadOptions,
): Promise<ListReading> {
  const total = list.rows().length;
  const { ends, drawn } = choosePages(total, random, Math.floor(skip / limit));
  const pages = [...ends, ...drawn];
  if (inParallel) await readInParallel(list, [...new Set(pages)]);
  const reads = await readAll(list, pages, cold);
  const atEnds = reads.slice(0, ends.length);
  const plainList = { ...list, read: (request: PageRequest) => plainQuery(list.range, request) };
  // The middle page is the first of them.
  const plainPages = [...ends.slice(1), ...ends.slice(0, 1), ...drawn].slice(0, plain);
  return {
    ...{ name: list.name, total },
    counted: {
      ...summarize(reads),
      units: { ...spreadOf(reads, unitsOf), median: spreadOf(reads.slice(ends.length), unitsOf).median },
    },
    ends: atEnds.map(unitsOf),
    firstTrips: roundTrips(atEnds[0]?.calls ?? []),
    parts: unitsByPart(reads),
    ...(plainPages.length > 0 && { plain: summarize(await readAll(plainList, plainPages)) }),
  };
}

function choosePages(total: number, random: number, skip: number) {
  const last = Math.max(1, Math.ceil(total / limit));
  const others = last - skip;
  const draw = seeded(others);
  return {
    ends: [1, Math.ceil(last / 2), last],
    drawn:
      others <= random
        ? Array.from({ length: others }, (_, n) => skip + n + 1)
        : Array.from({ length: random }, () => skip + 1 + Math.floor(draw() * others)),
  };
}

async function readInParallel(list: MeasuredList, pages: readonly number[]): Promise<void> {
  for (let from = 0; from < pages.length; from += parallel) {
    await Promise.all(pages.slice(from, from + parallel).map((page) => readPage(list, page)));
  }
}

async function readAll(list: MeasuredList, pages: readonly number[], cold = false): Promise<Read[]> {
  const reads: Read[] = [];
  for (const page of pages) {
    if (cold) forgetTails();
    reads.push(await readPage(list, page));
  }
  return reads;
}

/** Reads a page of a list and verifies it. */
export async function readPage(list: MeasuredList, page: number): Promise<Read> {
  const request = { page, limit };
  const read = await metered(() => list.read(request).catch(unlessRefused));
  if (read.result) verify(list, request, read.result);
  return { ...read, refused: read.result === undefined };
}

function unlessRefused(error: unknown): undefined {
  if (!(error instanceof TooExpensiveError)) throw error;
}

const unitsOf = ({ calls }: Read) => readUnits(calls);

const spreadOf = (reads: readonly Read[], toNumber: (read: Read) => number) => spread(reads.map(toNumber));

/** The cost of pages. */
export const summarize = (reads: readonly Read[]): Reading => ({
  pages: reads.length,
  refused: reads.filter(({ refused }) => refused).length,
  units: spreadOf(reads, unitsOf),
  calls: spreadOf(reads, ({ calls }) => calls.length),
  trips: spreadOf(reads, ({ calls }) => roundTrips(calls)),
  milliseconds: spreadOf(reads, ({ milliseconds }) => milliseconds),
});

function unitsByPart(reads: readonly Read[]): Partial<Record<Part, number>> {
  const byPart = Map.groupBy(
    reads.flatMap(({ calls }) => calls),
    ({ part }) => part,
  );
  return Object.fromEntries(
    Array.from(byPart, ([part, some]) => [part, sum(some.map(({ read }) => read)) / reads.length]),
  );
}
