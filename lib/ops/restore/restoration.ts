import { GetCommand } from "@aws-sdk/lib-dynamodb";
import { encodeTime } from "ulid";
import { type Item, type Key, table, tableName } from "../../../shared/dynamodb/table-client.ts";
import type { TransactItems } from "../../../shared/dynamodb/transact.ts";
import { ulidPattern } from "../../../shared/ids.ts";
import type { Pace } from "../pace.ts";
import type { OnRows } from "../progress.ts";
import type { Wait } from "../retry-while-busy.ts";
import type { Change } from "./changes.ts";

/** The restoration of an account. */
export interface Restoration {
  readonly account: string;
  /** The table that has the data to restore. */
  readonly from: string;
  /** Items that were created from this time on stay, in milliseconds since the epoch. */
  readonly keptFrom: number;
  /** The ids of erased leads. */
  readonly erased: ReadonlySet<string>;
  /** Those of them of which nothing was met: of the others, an earlier run has restored something. */
  readonly unmet: Set<string>;
  readonly pace: Pace;
  readonly wait: Wait;
  readonly onRows: OnRows;
  /** Whether `make` only notes the changes. */
  readonly dryRun: boolean;
  /**
   * Makes changes, all or none, and notes them.
   *
   * @param checks other conditions on which they are made
   * @throws an error that `isWriteConflict` knows when an item is no longer as it was compared
   */
  readonly make: (changes: readonly Change[], checks?: TransactItems) => Promise<void>;
}

/** How many items, or conversations with their messages, are compared at the same time. */
export const parallel = 32;

const generatedId = new RegExp(`_(${ulidPattern})$`);

/** Whether an item stays although the other table does not have it, because it is new. */
export function isNew({ keptFrom }: Restoration, id: string): boolean {
  const [, ulid] = generatedId.exec(id) ?? [];
  return ulid !== undefined && ulid >= encodeTime(keptFrom, 10);
}

/** Reads an item, consistently. @param from the table, by default the live one */
export async function readPaced(key: Key, pace: Pace, from = tableName): Promise<Item | undefined> {
  const get = new GetCommand({
    ...{ TableName: from, Key: key, ConsistentRead: true, ReturnConsumedCapacity: "TOTAL" },
  });
  const { Item, ConsumedCapacity } = await pace.retry(() => table.send(get));
  await pace.spend(ConsumedCapacity?.CapacityUnits ?? 0);
  return Item;
}
