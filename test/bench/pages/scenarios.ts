import { walk } from "../../../shared/pages/range.ts";
import { mean } from "../../support/statistics.ts";
import { importBackdated } from "./backdated.ts";
import { type CatchingUp, catchUp } from "./catch-up.ts";
import { advanceClock } from "./clock.ts";
import { itemSize } from "./item-size.ts";
import { rowItem } from "./lead-item.ts";
import { countLeads } from "./maintainer.ts";
import { joinConversation, startConversations } from "./messages.ts";
import type { Population } from "./population.ts";
import { type FilterReading, filters, leadsRange, type ReadOptions, readFiltered } from "./reading.ts";
import { type TreeSize, treeSize } from "./tree.ts";
import { verifyLists } from "./verify.ts";
import type { Writing } from "./write-cost.ts";
import { alone, burst, changeStatus, create } from "./writing.ts";

/** Longer than the allowed lateness, in milliseconds. */
const pastLateness = 10_000;

/** The costs of reading an account. */
export interface AccountReport {
  readonly size: number;
  /** The mean size of a lead in bytes, as DynamoDB counts them. */
  readonly leadBytes: number;
  readonly caughtUp: { readonly first: CatchingUp; readonly others: CatchingUp };
  readonly tree: TreeSize;
  readonly readings: readonly FilterReading[];
  /** With 16 leads in the tail; `ownUnits` is the cost of the first page's rows alone. */
  readonly shortTail: { readonly reading: FilterReading; readonly ownUnits: number };
  /** With 100 leads in the tail. */
  readonly longTail: readonly FilterReading[];
}

export async function readAccount(population: Population): Promise<AccountReport> {
  const { account, size } = population;
  const caughtUp = await catchUp(population);
  const tree = await treeSize(account);
  const leadBytes = mean(population.matching({}).map((row) => itemSize(rowItem(account, row))));
  const readings = await readAll(population, { random: 200, plain: true });
  await createMany(population, 16);
  const shortTail = {
    reading: await readFiltered(population, {}, { random: 20, plain: false }),
    ownUnits: await firstPageUnits(account),
  };
  await createMany(population, 84);
  const longTail = await readAll(population, { random: 50, plain: false });
  advanceClock(pastLateness);
  await countLeads(account);
  return { size, leadBytes, caughtUp, tree, readings, shortTail, longTail };
}

async function readAll(population: Population, options: ReadOptions): Promise<FilterReading[]> {
  const readings: FilterReading[] = [];
  for (const filter of filters) readings.push(await readFiltered(population, filter, options));
  return readings;
}

async function createMany(population: Population, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await create(population);
}

/** The read units of the newest 20 leads, calculated from their size. */
async function firstPageUnits(account: string): Promise<number> {
  const { items } = await walk(leadsRange(account, {}), { maxRows: 20 }, (send) =>
    send({ abortSignal: AbortSignal.timeout(60_000) }),
  );
  return Math.ceil(items.reduce((bytes, item) => bytes + itemSize(item), 0) / 4096);
}

/** Creates leads, sends messages and changes statuses in an account that has been counted. */
export async function writeAccount(population: Population): Promise<Writing[]> {
  const lead = () => create(population);
  const leads = [
    await alone({ what: "a lead alone", kind: "lone", count: 128 }, lead),
    await burst({ what: "leads, 100 at once", kind: "burst", count: 100 }, 100, lead),
    await burst({ what: "leads, 1,000 in 5 s", kind: "burst", count: 1000 }, 200, lead),
    await alone({ what: "a status change alone, anywhere", kind: "scattered", count: 100 }, () =>
      changeStatus(population),
    ),
  ];
  await verifyLists(population, filters);
  return [...leads, ...(await sendMessages(population))];
}

/** Sends messages that start conversations, which are counted, and messages that join one. */
async function sendMessages(population: Population): Promise<Writing[]> {
  const start = startConversations(population);
  const starts = (what: string) => `${what}, each starts a conversation`;
  const join = await joinConversation(population);
  const joins = (what: string) => `${what}, all join one conversation`;
  return [
    await alone({ what: "a message alone that starts a conversation", kind: "lone", count: 128 }, start),
    await burst({ what: starts("messages, 100 at once"), kind: "burst", count: 100 }, 100, start),
    await burst({ what: starts("messages, 1,000 in 5 s"), kind: "burst", count: 1000 }, 200, start),
    await alone({ what: "a message alone that joins a conversation", kind: "uncounted", count: 20 }, join),
    await burst({ what: joins("messages, 100 at once"), kind: "uncounted", count: 100 }, 100, join),
    await burst({ what: joins("messages, 1,000 in 5 s"), kind: "uncounted", count: 1000 }, 200, join),
  ];
}

/** Counts leads most of which have a source of their own. */
export async function countSources(population: Population): Promise<TreeSize> {
  await catchUp(population);
  const rows = population.matching({});
  const [first, last] = [rows.at(0)?.source, rows.at(-1)?.source];
  const bySource = [first, last].map((source) => ({ ...(source && { source }) }));
  await verifyLists(population, [{}, { status: "new" }, ...bySource, { source: "nobody" }]);
  return treeSize(population.account);
}

/** Imports back-dated leads into one leaf of a counted account. */
export async function backdate(
  population: Population,
  count: number,
  options: Parameters<typeof importBackdated>[2],
): Promise<Writing> {
  await catchUp(population);
  const writing = await importBackdated(population, count, options);
  await verifyLists(population, filters);
  return writing;
}
