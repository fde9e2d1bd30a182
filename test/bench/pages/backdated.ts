import { BatchWriteCommand } from "@aws-sdk/lib-dynamodb";
import { decodeTime, ulid } from "ulid";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { leadItem, type Row } from "./lead-item.ts";
import { deliver, streamRecord } from "./maintainer.ts";
import { type Call, metered } from "./meter.ts";
import { type Population, sourceShares } from "./population.ts";
import { seeded, shuffled, skewed } from "./random.ts";
import { type Writing, writingOf } from "./write-cost.ts";

/** The records of a batch of the stream, and the items of a call that writes many. */
const batchSize = 1000;
const callSize = 25;

/** How an import goes: in which order it writes, and whether the stream waits until it has written all. */
export interface Import {
  readonly order: "random" | "by time";
  readonly late: boolean;
}

/** Imports leads that were all made between two neighbours in the middle of the list, so that they land in one leaf. */
export async function importBackdated(
  population: Population,
  count: number,
  { order, late }: Import,
): Promise<Writing> {
  const what = `back-dated leads, ${order === "random" ? "in random order" : "the oldest first"}, ${late ? "the stream late" : "the stream at once"}`;
  const of = { what, kind: "back-dated", count } as const;
  const rows = backdatedRows(population, count);
  const ordered = order === "random" ? shuffled(seeded(3), rows) : rows;
  const changes: (readonly Call[])[] = [];
  const maintenance: (readonly Call[])[] = [];
  const deliverBatch = async (batch: readonly Row[]) => {
    const records = batch.map((row) => streamRecord(undefined, leadItem(population.account, row)));
    maintenance.push((await metered(() => deliver(records))).calls);
  };
  const batches = chunks(ordered, batchSize);
  for (const batch of batches) {
    changes.push((await metered(() => write(population.account, batch))).calls);
    population.add(...batch);
    if (!late) await deliverBatch(batch);
  }
  if (late) for (const batch of batches) await deliverBatch(batch);
  const { write: perBatch, ...writing } = writingOf(of, changes, maintenance);
  return { ...writing, write: perBatch / batchSize };
}

function backdatedRows(population: Population, count: number): Row[] {
  const rows = population.matching({});
  const middle = Math.floor(rows.length / 2);
  const [from, to] = rows.slice(middle, middle + 2).map(({ id }) => decodeTime(id.slice("lead_".length)));
  if (from === undefined || to === undefined || to - from < 3) throw new Error("No room between the leads.");
  const random = seeded(count);
  const source = skewed(random, sourceShares);
  return Array.from({ length: count }, (_, n) => ({
    id: `lead_${ulid(from + 1 + Math.floor(((to - from - 1) * n) / count), random)}`,
    status: "new",
    source: source(),
  }));
}

async function write(account: string, rows: readonly Row[]): Promise<void> {
  for (const some of chunks(rows, callSize)) {
    let requests = some.map((row) => ({ PutRequest: { Item: leadItem(account, row) } }));
    while (requests.length > 0) {
      const { UnprocessedItems } = await table.send(
        new BatchWriteCommand({ RequestItems: { [tableName]: requests } }),
      );
      requests = (UnprocessedItems?.[tableName] ?? []) as typeof requests;
    }
  }
}

const chunks = <T>(values: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, n) => values.slice(n * size, (n + 1) * size));
