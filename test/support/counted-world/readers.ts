import { expect } from "vitest";
import { TooExpensiveError } from "../../../shared/dynamodb/dynamodb-errors.ts";
import type { CountedWorld } from "../counted-world.ts";
import type { Actor } from "../interleaving.ts";
import type { Bounds } from "./expected-rows.ts";
import type { ListFilter } from "./row-kind.ts";

/** The rows of a page. */
const limit = 4;

const isUnfiltered = (filter: ListFilter) => Object.values(filter).every((value) => value === undefined);

/** A request for a page of a list. */
export interface PageOfList {
  readonly filter: ListFilter;
  readonly page: number;
  /** How far the clock of the list function is ahead, in milliseconds. */
  readonly skew?: number;
}

/**
 * Reads a page while nothing else runs. The whole list is exact, except for changes of counted rows that are not counted
 * yet. Any other list is exact, except for rows that were written lately.
 */
export async function readPage(world: CountedWorld, { filter, page, skew }: PageOfList): Promise<void> {
  const run = async () => {
    const { data, pagination } = await world.kind.read(world.account, filter, { page, limit });
    if (!isUnfiltered(filter)) return expectWithin(world.bounds(filter), data, pagination.total);
    const { backdated, deleted } = world.slack();
    expect(pagination.total).toBeGreaterThanOrEqual(world.expected.rows.size - backdated);
    expect(pagination.total).toBeLessThanOrEqual(world.expected.rows.size + deleted);
    if (backdated + deleted === 0) expect(data).toEqual(world.response(filter, page, limit).data);
  };
  const reader = await world.io.start("reader", run, skew);
  await world.io.finish(reader);
  if (reader.error) throw reader.error;
}

/** Reads the first page if a route's write has landed since the last `look`: the total must include it. */
export async function look(world: CountedWorld): Promise<void> {
  if (!world.landed) return;
  world.landed = false;
  await readPage(world, { filter: {}, page: 1 });
}

function expectWithin(
  { certain, possible }: Bounds,
  data: readonly { readonly id: string }[],
  total: number,
): void {
  const ids = data.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].sort().reverse());
  expect(ids.filter((id) => !possible.has(id))).toEqual([]);
  expect(total).toBeGreaterThanOrEqual(certain.size);
  expect(total).toBeLessThanOrEqual(possible.size);
}

/**
 * Reads a page while others run: the total includes every row that is in the list throughout, and none that never was. A
 * list that takes more time than it may has no response.
 */
export async function readPageSlowly(
  world: CountedWorld,
  { filter, page, skew }: PageOfList,
): Promise<Actor> {
  const bounds = isUnfiltered(filter) ? unfilteredBounds(world) : world.bounds(filter);
  const { slack, end } = world.watches.start(filter, bounds, world.slack());
  const run = async () => {
    const response = await world.kind.read(world.account, filter, { page, limit }).catch((error: unknown) => {
      if (!(error instanceof TooExpensiveError)) throw error;
    });
    end();
    if (!response) return;
    const ids = response.data.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].sort().reverse());
    const { backdated, deleted } = isUnfiltered(filter) ? slack : { backdated: 0, deleted: 0 };
    expect(response.pagination.total).toBeGreaterThanOrEqual(bounds.certain.size - backdated);
    expect(response.pagination.total).toBeLessThanOrEqual(bounds.possible.size + deleted);
  };
  return world.io.start("slow reader", run, skew);
}

function unfilteredBounds({ expected }: CountedWorld): Bounds {
  const ids = [...expected.rows.keys()];
  return { certain: new Set(ids), possible: new Set(ids) };
}

/** Compares every page of lists with the rows in memory. */
export async function compareLists(world: CountedWorld, filters: Iterable<ListFilter>): Promise<void> {
  await world.io.alone(async () => {
    for (const filter of filters) {
      const { total } = world.response(filter, 1, limit).pagination;
      for (let page = 1; page <= Math.ceil(total / limit) + 1; page++) {
        const response = await world.kind.read(world.account, filter, { page, limit });
        expect(response, `page ${page} of ${JSON.stringify(filter)}`).toEqual(
          world.response(filter, page, limit),
        );
      }
    }
  });
}

/** The filters of all lists of a world. */
export function* allFilters({ kind: { statuses, origins, leadIds } }: CountedWorld): Iterable<ListFilter> {
  for (const status of [undefined, ...statuses]) {
    for (const origin of new Set([undefined, ...origins])) {
      for (const leadId of new Set([undefined, ...leadIds])) yield { status, origin, leadId };
    }
  }
}
