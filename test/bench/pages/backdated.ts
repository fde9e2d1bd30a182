import { BatchWriteCommand } from "@aws-sdk/lib-dynamodb";
import { decodeTime, ulid } from "ulid";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { type Call, metered } from "../../support/meter.ts";
import { seeded, shuffled, skewed } from "../../support/random.ts";
import { streamRecord } from "../../support/stream-record.ts";
import { type Row, rowItem } from "./lead-item.ts";
import { deliver } from "./maintainer.ts";
import { type Population, sourceShares } from "./population.ts";
import { summarizeWriting, type Writing } from "./write-cost.ts";

/** The records of a stream batch, and the items of a BatchWriteItem call. */
const batchSize = 1000;
const callSize = 25;

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
  const deliverBatch = async (batch: readonly Row[]) => {
    const records = batch.map((row) => streamRecord(undefined, rowItem(population.account, row)));
    maintenance.push((await metered(() => deliver(records))).calls);
  };
  const batches = chunks(ordered, batchSize);
  for (const batch of batches) {
    changes.push((await metered(() => write(population.account, batch))).calls);
    population.add(...batch);
    if (!late) await deliverBatch(batch);
  }
  if (late) for (const batch of batches) await deliverBatch(batch);
  const { write: perBatch, ...writing } = summarizeWriting(kind, changes, maintenance);
  return { ...writing, write: perBatch / batchSize };
}

function backdatedRows(population: Population, count: number): Row[] {
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

async function write(account: string, rows: readonly Row[]): Promise<void> {
  for (const some of chunks(rows, callSize)) {
    let requests = some.map((row) => ({ PutRequest: { Item: rowItem(account, row) } }));
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
