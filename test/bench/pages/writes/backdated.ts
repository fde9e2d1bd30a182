import type { DynamoDBRecord } from "aws-lambda";
import { decodeTime, ulid } from "ulid";
import { type Call, metered } from "../../../support/meter.ts";
import { seeded, shuffled, skewed } from "../../../support/random.ts";
import { changeRecord, rowItem } from "../items.ts";
import { sourceShares } from "../leads.ts";
import { batchSize, deliver } from "../maintainer.ts";
import type { Population } from "../population.ts";
import type { LeadRow } from "../rows.ts";
import { chunks, writeRows } from "../write-rows.ts";
import { summarizeWriting, type Writing } from "./write-cost.ts";

/** The order in which an import writes, and whether the stream delivers only after all is written. */
export interface Import {
  readonly order: "random" | "by time";
  readonly late: boolean;
}

/** Imports leads created between two neighbours in the middle of the list, so that all land in one leaf. */
export async function importBackdated(
  population: Population,
  count: number,
  { order, late }: Import,
): Promise<Writing> {
  const what = `back-dated leads, ${order === "random" ? "in random order" : "the oldest first"}, ${late ? "the stream late" : "the stream at once"}`;
  const kind = { what, kind: "back-dated", count } as const;
  const rows = backdatedRows(population, count);
  const ordered = order === "random" ? shuffled(seeded(3), rows) : rows;
  const changes: (readonly Call[])[] = [];
  const maintenance: (readonly Call[])[] = [];
  const waiting: DynamoDBRecord[][] = [];
  const deliverWaiting = async () => {
    for (const records of waiting.splice(0)) maintenance.push((await metered(() => deliver(records))).calls);
  };
  for (const batch of chunks(ordered, batchSize)) {
    changes.push((await metered(() => writeRows(population.account, batch))).calls);
    population.add(...batch);
    waiting.push(batch.map((row) => changeRecord(undefined, rowItem(population.account, row))));
    if (!late) await deliverWaiting();
  }
  await deliverWaiting();
  const { write: perBatch, ...writing } = summarizeWriting(kind, changes, maintenance);
  return { ...writing, write: perBatch / batchSize };
}

function backdatedRows(population: Population, count: number): LeadRow[] {
  const rows = population.matching({});
  const middle = Math.floor(rows.length / 2);
  const [from, to] = rows.slice(middle, middle + 2).map(({ id }) => decodeTime(id.slice("lead_".length)));
  if (from === undefined || to === undefined || to - from < 3)
    throw new Error("There is no time between the two leads in the middle.");
  const random = seeded(count);
  const source = skewed(random, sourceShares);
  return Array.from({ length: count }, (_, n) => ({
    id: `lead_${ulid(from + 1 + Math.floor(((to - from - 1) * n) / count), random)}`,
    status: "new",
    source: source(),
  }));
}
