import { isDeepStrictEqual } from "node:util";
import { countedPage } from "../../../shared/pages/read/counted-page.ts";
import { filteredRange } from "../../../shared/pages/read/counted-range.ts";
import { forgetTails } from "../../../shared/pages/read/tail.ts";
import { countedLists, type Filter } from "../../../shared/pages/tree/counted-list.ts";
import { seeded } from "../../support/random.ts";
import { type Spread, spread } from "../../support/statistics.ts";
import { listFilters } from "./list-rows.ts";
import type { Reads } from "./simulated-table.ts";
import type { Simulation } from "./simulation.ts";

/** The number of rows of a page. */
export const limit = 20;

/** What pages of a filtered list cost. */
export interface PageCosts {
  readonly filter: Filter;
  readonly total: number;
  readonly trips: Spread;
  readonly calls: Spread;
  /** All read units of random pages. */
  readonly units: Spread;
  /** Of the root and the nodes. */
  readonly treeUnits: Spread;
  /** The rows before the page that were read with it. */
  readonly skipped: Spread;
  /** The read units of the first, the middle and the last page. */
  readonly ends: readonly number[];
}

/** Reads random pages with each filter, and the first, the middle and the last. @throws when a page is wrong */
export async function readPages(simulation: Simulation, randomPages: number): Promise<readonly PageCosts[]> {
  const restore = simulation.table.use();
  forgetTails();
  try {
    const costs: PageCosts[] = [];
    for (const filter of listFilters(simulation.list))
      costs.push(await readFiltered(simulation, filter, randomPages));
    return costs;
  } finally {
    restore();
  }
}

async function readFiltered(
  { list, rows, table }: Simulation,
  filter: Filter,
  randomPages: number,
): Promise<PageCosts> {
  const counted = filteredRange(list.account, countedLists.lead, filter);
  const { partition } = counted.range;
  const total = rows.total(partition);
  const read = async (page: number): Promise<Reads> => {
    table.startReading();
    const found = await countedPage(counted, { page, limit }, ({ sk }) => String(sk));
    const expected = { data: rows.page(partition, page, limit), pagination: { page, limit, total } };
    if (!isDeepStrictEqual(found, expected))
      throw new Error(`Page ${page} of ${JSON.stringify(filter)} is wrong.`);
    return { ...table.reads };
  };
  const last = Math.ceil(total / limit);
  const ends: Reads[] = [];
  for (const page of [1, Math.ceil(last / 2), last]) ends.push(await read(page));
  const random = seeded(total);
  const drawn: Reads[] = [];
  for (let i = 0; i < randomPages; i++) drawn.push(await read(2 + Math.floor(random() * (last - 2))));
  const all = [...ends, ...drawn];
  const units = ({ treeUnits, rowUnits }: Reads) => treeUnits + rowUnits;
  return {
    ...{ filter, total },
    trips: spread(all.map(({ trips }) => trips)),
    calls: spread(all.map(({ calls }) => calls)),
    units: { median: spread(drawn.map(units)).median, worst: spread(all.map(units)).worst },
    treeUnits: spread(all.map(({ treeUnits }) => treeUnits)),
    skipped: spread(all.map(({ lastRows }) => Math.max(0, lastRows - limit))),
    ends: ends.map(units),
  };
}
