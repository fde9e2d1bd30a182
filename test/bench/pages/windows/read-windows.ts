import { listLeads } from "../../../../shared/domain/leads.ts";
import { createdAt } from "../../../../shared/ids.ts";
import { creationWindow } from "../../../../shared/pages/read/window.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { seeded } from "../../../support/random.ts";
import { countAccount } from "../count-account.ts";
import { rowItem } from "../items.ts";
import type { Log } from "../job.ts";
import { filterName, leadList, leadRange, type MeasuredList } from "../measured-list.ts";
import { plainQuery } from "../plain-query.ts";
import type { Population } from "../population.ts";
import { type Reading, readPage, summarize } from "../read-list.ts";
import { type LeadFilter, type LeadRow, limit } from "../rows.ts";
import { filters } from "../sizes/filters.ts";

/** The cost of some pages of windows of a list, of its own pages, and of plain counted queries of the windows. */
export interface WindowReading {
  readonly filter: string;
  readonly pages: "first" | "random" | "first, no end";
  readonly windows: Reading;
  readonly list: Reading;
  readonly plain: Reading;
}

export interface WindowsReport {
  readonly size: number;
  readonly readings: readonly WindowReading[];
  /** Of leads by their id and by their email address. */
  readonly byId: Reading;
  readonly byEmail: Reading;
}

/** How many windows and pages are read, and how many of them with plain queries. */
const windows = 60;
const plainWindows = 4;

/** Counts an account and reads windows between random rows of its lists. */
export async function readWindows(population: Population, log: Log): Promise<WindowsReport> {
  log("counting");
  await countAccount(population);
  log("reading");
  const readings: WindowReading[] = [];
  for (const filter of filters) {
    if (population.matching(filter).length > 5 * limit)
      readings.push(...(await readFilter(population, filter)));
  }
  const rows = Array.from({ length: windows }, (_, n) =>
    population.at(Math.floor((n * population.size) / windows)),
  );
  const found = rows.filter((row) => row !== undefined);
  const emailOf = (row: LeadRow) => String(Reflect.get(rowItem(population.account, row), "email"));
  return {
    size: population.size,
    readings,
    byId: await readEach(found.map((row) => oneLead(population, row, { id: row.id }))),
    byEmail: await readEach(found.map((row) => oneLead(population, row, { email: emailOf(row) }))),
  };
}

async function readFilter(population: Population, filter: LeadFilter): Promise<WindowReading[]> {
  const random = seeded(population.size);
  const rows = population.matching(filter);
  const list = leadList(population, filter);
  const upTo = (most: number) => Math.floor(random() * most);
  // Windows of half of the rows on average, so that most have pages far from their ends.
  const closed = Array.from({ length: windows }, () =>
    windowList(population, filter, [upTo(rows.length / 2), rows.length - 1 - upTo(rows.length / 2)]),
  );
  const open = Array.from({ length: windows }, () => windowList(population, filter, [upTo(rows.length)]));
  const pageIn = ({ rows }: MeasuredList) => 1 + upTo(Math.ceil(rows().length / limit));
  const lists = closed.map(() => list);
  const read = async (
    pages: WindowReading["pages"],
    some: readonly WindowList[],
    choose: (list: MeasuredList) => number,
    own: (list: MeasuredList) => number,
  ): Promise<WindowReading> => ({
    ...{ filter: filterName(filter), pages },
    windows: await readEach(some, choose),
    list: await readEach(lists, own),
    plain: await readEach(some.slice(0, plainWindows).map(toPlain), choose),
  });
  return [
    // The first page of a window has the rows of a page in the middle of the list.
    await read("first", closed, () => 1, pageIn),
    await read("random", closed, pageIn, pageIn),
    await read(
      "first, no end",
      open,
      () => 1,
      () => 1,
    ),
  ];
}

interface WindowList extends MeasuredList {
  readonly plainRange: Parameters<typeof plainQuery>[0];
}

/** The rows of a list from one to before another. */
function windowList(population: Population, filter: LeadFilter, [first, end]: readonly number[]): WindowList {
  const { account } = population;
  const rows = population.matching(filter);
  const timeOf = (index: number | undefined) => {
    const row = rows[index ?? rows.length];
    return row && createdAt(row.id);
  };
  const [after, before] = [timeOf(first), timeOf(end)];
  const times = {
    ...(after !== undefined && { createdAfter: after }),
    ...(before !== undefined && { createdBefore: before }),
  };
  return {
    ...{ account, name: `${filterName(filter)} ${after} ${before}`, range: leadRange(account, filter) },
    rows: () => rows.slice(first, end),
    read: (request) => listLeads(account, { ...filter, ...times }, request),
    plainRange: { ...leadRange(account, filter), window: creationWindow(countedLists.lead, times) },
  };
}

const toPlain = (list: WindowList): MeasuredList => ({
  ...list,
  read: (request) => plainQuery(list.plainRange, request),
});

const oneLead = (
  population: Population,
  row: LeadRow,
  query: { readonly id?: string; readonly email?: string },
) => ({
  ...leadList(population, {}),
  rows: () => [row],
  read: (request: { readonly page: number; readonly limit: number }) =>
    listLeads(population.account, query, request),
});

async function readEach(lists: readonly MeasuredList[], choose: (list: MeasuredList) => number = () => 1) {
  const reads = [];
  for (const list of lists) reads.push(await readPage(list, choose(list)));
  return summarize(reads);
}
