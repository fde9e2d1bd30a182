import { listPartition } from "../../../shared/dynamodb/keys.ts";
import type { Item, Key } from "../../../shared/dynamodb/table-client.ts";
import type { CountedOwner } from "../../../shared/pages/tree/counted-list.ts";
import { forEachAtRate } from "../import-export/for-each-at-rate.ts";
import type { Pace } from "../pace.ts";
import type { OnRows } from "../progress.ts";
import { inPartition, queryItems } from "../query-items.ts";
import { addMissingKeys, findMissingKeys } from "./index-keys.ts";

/** How many rows are written concurrently. */
const batchRows = 32;

/** How many incomplete rows are named. */
const namedRows = 5;

/** How far a backfill came. */
export interface BackfillPosition {
  /** The last row that is done. */
  readonly key: Key | undefined;
  /** The rows until there, those of them that lacked index keys, and those that are incomplete and stay as they are. */
  readonly rows: number;
  readonly outdated: number;
  readonly incomplete: number;
  /** The first of the incomplete rows, at most five. */
  readonly incompleteKeys: readonly Key[];
}

/** Where a backfill begins. */
export const firstPosition: BackfillPosition = {
  key: undefined,
  rows: 0,
  outdated: 0,
  incomplete: 0,
  incompleteKeys: [],
};

interface Reading {
  readonly pace: Pace;
  readonly from: BackfillPosition;
  readonly onRows: OnRows;
}

interface Backfill extends Reading {
  /** The most rows to write per second. */
  readonly rate: number;
  /** Called after each batch of writes. */
  readonly onWritten: (position: BackfillPosition) => Promise<void>;
}

/** Gives the rows of lists the index keys that they would have if they were created now. @returns the end */
export async function backfillIndexes(
  owners: readonly CountedOwner[],
  { rate, onWritten, ...reading }: Backfill,
): Promise<BackfillPosition> {
  let end = reading.from;
  const batches = readBatches(owners, reading);
  await forEachAtRate(batches, { rate: rate / batchRows, parallel: 1 }, async ({ outdated, position }) => {
    await Promise.all(outdated.map((row) => addMissingKeys(row, reading.pace)));
    await onWritten(position);
    end = position;
  });
  return end;
}

/** Reads what a backfill would do. @returns the end */
export async function planBackfill(
  owners: readonly CountedOwner[],
  reading: Reading,
): Promise<BackfillPosition> {
  let end = reading.from;
  for await (const { position } of readBatches(owners, reading)) end = position;
  return end;
}

/** Rows that lack index keys, and the position after them. */
interface Batch {
  readonly outdated: readonly Item[];
  readonly position: BackfillPosition;
}

/** Reads the rows after a position, in the order of their keys. All batches but the last one are full. */
async function* readBatches(owners: readonly CountedOwner[], reading: Reading): AsyncGenerator<Batch> {
  let position = reading.from;
  let batch: Item[] = [];
  for await (const row of readRows(owners, reading)) {
    const missing = findMissingKeys(row);
    const key = { pk: String(row.pk), sk: String(row.sk) };
    const { incompleteKeys } = position;
    const isNamed = missing === "incomplete" && incompleteKeys.length < namedRows;
    position = {
      key,
      rows: position.rows + 1,
      outdated: position.outdated + Number(typeof missing === "object"),
      incomplete: position.incomplete + Number(missing === "incomplete"),
      incompleteKeys: isNamed ? [...incompleteKeys, key] : incompleteKeys,
    };
    if (typeof missing !== "object" || batch.push(row) < batchRows) continue;
    yield { outdated: batch, position };
    batch = [];
  }
  yield { outdated: batch, position };
}

async function* readRows(
  owners: readonly CountedOwner[],
  { pace, from: { key: after }, onRows }: Reading,
): AsyncGenerator<Item> {
  const partitions = owners.map(({ account, list }) => listPartition(list.type, account)).sort();
  for (const pk of partitions) {
    if (after && pk < after.pk) continue;
    const pages = queryItems(inPartition(pk), pace, after?.pk === pk ? after : undefined);
    for await (const rows of pages) {
      yield* rows;
      onRows(rows.length);
    }
  }
}
