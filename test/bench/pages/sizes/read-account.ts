import type { DynamoDBRecord } from "aws-lambda";
import { mean, sum } from "../../../support/statistics.ts";
import { advanceClock } from "../clock.ts";
import { itemSize } from "../item-size.ts";
import { rowItem } from "../items.ts";
import type { Log } from "../job.ts";
import { deliver } from "../maintainer.ts";
import { leadList, type MeasuredList } from "../measured-list.ts";
import type { Population } from "../population.ts";
import { type ListReading, readList } from "../read-list.ts";
import { limit } from "../rows.ts";
import { type TreeSize, treeSize } from "../tree.ts";
import { create } from "../writes/writing.ts";
import { type CatchingUp, catchUp } from "./catch-up.ts";
import { allLists } from "./filters.ts";

/** Longer than the allowed lateness, in milliseconds. */
const pastLateness = 10_000;

/** The costs of reading an account. */
export interface AccountReport {
  readonly size: number;
  /** The mean size of a lead in bytes, as DynamoDB counts them. */
  readonly leadBytes: number;
  readonly caughtUp: { readonly first: CatchingUp; readonly others: CatchingUp };
  readonly tree: TreeSize;
  readonly readings: readonly ListReading[];
  /** With 16 leads in the tail; `ownUnits` is the cost of the first page's rows alone. */
  readonly shortTail: { readonly reading: ListReading; readonly ownUnits: number };
  /** With 100 leads in the tail. */
  readonly longTail: readonly ListReading[];
}

/** Counts an account and reads its lists. */
export async function readAccount(population: Population, log: Log): Promise<AccountReport> {
  const { account, size } = population;
  log("counting");
  const caughtUp = await catchUp(population);
  const tree = await treeSize(account);
  const leadBytes = mean(population.matching({}).map((row) => itemSize(rowItem(account, row))));
  log("reading");
  const readings = [];
  for (const list of allLists(population)) {
    readings.push(await readList(list, { random: 100, inParallel: true, plain: plainPages(list) }));
  }
  log("reading while leads wait to be counted");
  const records = await createMany(population, 16);
  const shortTail = {
    reading: await readList(leadList(population, {}), { random: 20, inParallel: true }),
    ownUnits: firstPageUnits(population),
  };
  records.push(...(await createMany(population, 84)));
  const longTail = [];
  for (const list of allLists(population)) {
    longTail.push(await readList(list, { random: 50, inParallel: true }));
  }
  advanceClock(pastLateness);
  await deliver(records);
  return { size, leadBytes, caughtUp, tree, readings, shortTail, longTail };
}

/** The lists of the plot, which are read with plain queries in every account. */
const plotted = ["none", "website"];

/** Fewer pages of longer lists, because a plain query reads the whole list for each page. */
function plainPages({ name, rows }: MeasuredList): number {
  const { length } = rows();
  if (length <= 10_000) return 50;
  if (length <= 100_000) return 6;
  return plotted.includes(name) ? 1 : 0;
}

async function createMany(population: Population, count: number): Promise<DynamoDBRecord[]> {
  const records: DynamoDBRecord[] = [];
  for (let n = 0; n < count; n++) records.push(...(await create(population)).records);
  return records;
}

/** The read units of the newest 20 leads, calculated from their size. */
function firstPageUnits(population: Population): number {
  const newest = population.matching({}).slice(-limit);
  return Math.ceil(sum(newest.map((row) => itemSize(rowItem(population.account, row)))) / 4096);
}
