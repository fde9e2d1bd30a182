import { isDeepStrictEqual } from "node:util";
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  TransactionCanceledException,
} from "@aws-sdk/client-dynamodb";
import {
  DeleteCommand,
  type DeleteCommandOutput,
  PutCommand,
  type PutCommandOutput,
  TransactWriteCommand,
} from "@aws-sdk/lib-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { type Item, type Key, table, tableName } from "../../../shared/dynamodb/table-client.ts";
import type { TransactItems } from "../../../shared/dynamodb/transact.ts";
import { areUnchanged } from "../changes/conditional-update.ts";
import { readsPerWrite } from "../delete-items.ts";
import type { Pace } from "../pace.ts";

/** An item of the live table that becomes another one, or none. At least one of the two exists. */
export interface Change {
  readonly key: Key;
  readonly live?: Item | undefined;
  readonly target?: Item | undefined;
}

/** What becomes of an item. */
export type ChangeKind = "create" | "replace" | "delete";

export const kindOf = ({ live, target }: Change): ChangeKind =>
  target === undefined ? "delete" : live === undefined ? "create" : "replace";

/** The change that makes an item of the live table what it should be, if there is one. */
export const toChanges = (key: Key, live: Item | undefined, target: Item | undefined): Change[] =>
  isDeepStrictEqual(live, target) ? [] : [{ key, live, target }];

/**
 * Writes changes, all or none, each on the condition that the item is as it was compared.
 *
 * @param checks other conditions of the same transaction
 * @throws an error that `isWriteConflict` knows when a condition does not hold
 */
export async function writeChanges(
  changes: readonly Change[],
  checks: TransactItems,
  pace: Pace,
): Promise<void> {
  try {
    await write(changes, checks, pace);
  } catch (error) {
    const items = conflictingItems(error);
    const exact = changes.map((change, i) => withExactNumbers(change, items[i]));
    if (exact.every((change, i) => change === changes[i])) throw error;
    await write(exact, checks, pace);
  }
}

/** The items for which the conditions of a write did not hold, in the order of the conditions. */
function conflictingItems(error: unknown): (Record<string, AttributeValue> | undefined)[] {
  if (error instanceof ConditionalCheckFailedException) return [error.Item];
  if (error instanceof TransactionCanceledException)
    return error.CancellationReasons?.map(({ Item }) => Item) ?? [];
  return [];
}

/** A number of DynamoDB may have more digits than one of JavaScript, so that no condition on the latter ever holds. */
function withExactNumbers(change: Change, item: Record<string, AttributeValue> | undefined): Change {
  return item && isDeepStrictEqual(unmarshall(item), change.live)
    ? { ...change, live: unmarshall(item, { wrapNumbers: true }) }
    : change;
}

async function write(changes: readonly Change[], checks: TransactItems, pace: Pace): Promise<void> {
  const writes = changes.map(toWrite);
  const [only, ...others] = writes;
  if (!only) return;
  const { ConsumedCapacity = [] } =
    others.length === 0 && checks.length === 0
      ? await writeOne(only, pace)
      : await transact(writes, checks, pace);
  // A partition key of the table and one of an index have a limit each, so their units do not add up.
  const units = [ConsumedCapacity].flat().map(({ Table }) => Table?.CapacityUnits ?? 0);
  await pace.spend(readsPerWrite * units.reduce((sum, each) => sum + each, 0));
}

type Write = ReturnType<typeof toWrite>;

function toWrite({ key, live, target }: Change) {
  const condition = {
    TableName: tableName,
    ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const,
    ...unchanged(live, target),
  };
  return target ? { Put: { ...condition, Item: target } } : { Delete: { ...condition, Key: key } };
}

const writeOne = ({ Put, Delete }: Write, pace: Pace) =>
  pace.retry<PutCommandOutput | DeleteCommandOutput>(() =>
    Put
      ? table.send(new PutCommand({ ...Put, ReturnConsumedCapacity: "INDEXES" }))
      : table.send(new DeleteCommand({ ...Delete, ReturnConsumedCapacity: "INDEXES" })),
  );

const transact = (writes: readonly Write[], checks: TransactItems, pace: Pace) =>
  pace.retry(() =>
    table.send(
      new TransactWriteCommand({ TransactItems: [...writes, ...checks], ReturnConsumedCapacity: "INDEXES" }),
    ),
  );

/** The condition that an item is still as it was compared, in all attributes that it has or shall have. */
function unchanged(live: Item | undefined, target: Item = {}) {
  if (!live) return { ConditionExpression: "attribute_not_exists(pk)" };
  const missing = Object.keys(target).filter((name) => !Object.hasOwn(live, name));
  const { conditions, names, values } = areUnchanged({
    ...live,
    ...Object.fromEntries(missing.map((name) => [name, undefined])),
  });
  return {
    ConditionExpression: conditions.join(" AND "),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  };
}
