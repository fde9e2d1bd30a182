import { expect } from "vitest";
import { TooExpensiveError } from "../../../shared/dynamodb/dynamodb-errors.ts";
import { idTimestamp } from "../../../shared/ids.ts";
import type { Page } from "../../../shared/pages/page.ts";
import type { CountedWorld } from "../counted-world.ts";
import type { Actor } from "../interleaving.ts";
import type { Bounds } from "./expected-rows.ts";
import type { ListFilter } from "./row-kind.ts";

/** The rows of a page. */
const limit = 4;

/** Whether a list is the whole list, or its part that was created in a time. */
const isUnfiltered = ({ status, origin, parent }: ListFilter) =>
  [status, origin, parent].every((value) => value === undefined);

/** Ends a call of a slow reader, whose environment keeps what it has read. */
export class BrokenCallError extends Error {}

/** A request for a page of a list. */
export interface PageOfList {
  readonly filter: ListFilter;
  readonly page: number;
  /** How long ago the rows were created, in milliseconds. */
  readonly age?: { readonly most?: number | undefined; readonly least?: number | undefined } | undefined;
  /** How far the clock of the list function is ahead, in milliseconds. */
  readonly skew?: number;
}

/**
 * Reads a page while nothing else runs. The whole list is exact, except for changes of counted rows that are not counted
 * yet. Any other list is exact, except for rows that were written lately.
 */
export async function readPage(world: CountedWorld, list: PageOfList): Promise<void> {
  const filter = filterOf(world, list);
  const { backdated, deleted } = world.slack();
  const response = isUnfiltered(filter) ? world.response(filter, list.page, limit) : undefined;
  const reader = await startReading(world, list, (found) => {
    // The small trees of tests have so many levels that two attempts use up the calls of a list.
    if (!found && !world.isDamaged) throw new Error("The list has no response.");
    if (found && response && backdated + deleted === 0) expect(found.data).toEqual(response.data);
  });
  await world.io.finish(reader);
  if (reader.error) throw reader.error;
}

/** Reads the first page if a route's write has landed since the last `look`: the total must include it. */
export async function look(world: CountedWorld): Promise<void> {
  if (!world.landed) return;
  world.landed = false;
  await readPage(world, { filter: {}, page: 1 });
}

/** The filter of a list, with the times of its rows. */
function filterOf({ io: { now } }: CountedWorld, { filter, age = {} }: Omit<PageOfList, "page">): ListFilter {
  const { most, least } = age;
  return {
    ...filter,
    createdAfter: most === undefined ? most : now - most,
    createdBefore: least === undefined ? least : now - least,
  };
}

/** Starts to read a page while others run: its total includes every row that is in the list throughout, and none that never was. */
export const readPageSlowly = (world: CountedWorld, list: PageOfList) => startReading(world, list);

/** @param check gets the response, or none of a list that takes more time than it may, or that is broken off */
async function startReading(
  world: CountedWorld,
  { page, skew, ...list }: PageOfList,
  check: (found?: Page<{ readonly id: string }>) => void = () => {},
): Promise<Actor> {
  const filter = filterOf(world, list);
  const bounds = isUnfiltered(filter) ? unfilteredBounds(world, filter) : world.bounds(filter);
  const { slack, end } = world.watches.start(filter, bounds, world.slack());
  const run = async () => {
    const reading = world.kind.read(world.account, filter, { page, limit });
    const response = await reading.catch((error: unknown): undefined => {
      if (!(error instanceof TooExpensiveError || error instanceof BrokenCallError)) throw error;
    });
    end();
    check(response);
    if (!response) return;
    const ids = response.data.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].sort().reverse());
    expect(ids.filter((id) => !bounds.possible.has(id))).toEqual([]);
    const { backdated, deleted } = isUnfiltered(filter) ? slack : { backdated: 0, deleted: 0 };
    expect(response.pagination.total).toBeGreaterThanOrEqual(bounds.certain.size - backdated);
    expect(response.pagination.total).toBeLessThanOrEqual(bounds.possible.size + deleted);
  };
  return world.io.start("slow reader", run, skew);
}

function unfilteredBounds({ expected }: CountedWorld, filter: ListFilter): Bounds {
  const ids = expected.matching(filter).map(({ id }) => id);
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

/** The filters of all lists of a world, each without times and with times that half of the rows lie between. */
export function* allFilters({ kind, expected }: CountedWorld): Iterable<ListFilter> {
  const rows = expected.matching({});
  const timeAt = (part: number) =>
    rows.slice(Math.floor(part * rows.length), -1).map(({ id }) => idTimestamp(id))[0];
  const times = { createdAfter: timeAt(3 / 4), createdBefore: timeAt(1 / 4) };
  for (const status of [undefined, ...kind.statuses]) {
    for (const origin of new Set([undefined, ...kind.origins])) {
      for (const parent of new Set([undefined, ...kind.parents])) {
        yield { status, origin, parent };
        yield { status, origin, parent, ...times };
      }
    }
  }
}
