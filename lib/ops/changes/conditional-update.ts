import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { isWriteConflict, StaleReadError } from "../../../shared/dynamodb/dynamodb-errors.ts";
import { type Item, type Key, table, tableName } from "../../../shared/dynamodb/table-client.ts";

/**
 * The parameters of an update that sets attributes of an item, on the condition that it exists and that other
 * attributes are as they were read; undefined stands for a missing one.
 */
export function buildUpdate(key: Key, set: Item, unchanged: Item = {}) {
  const changes = Object.entries(set);
  const conditions = Object.entries(unchanged);
  const names = [...changes, ...conditions].map(([name], i) => [`#${i}`, name]);
  const values = [...changes, ...conditions].map(([, value], i) => [`:${i}`, value]);
  const same = conditions.map(([, value], i) =>
    value === undefined
      ? `attribute_not_exists(#${changes.length + i})`
      : `#${changes.length + i} = :${changes.length + i}`,
  );
  return {
    TableName: tableName,
    Key: key,
    UpdateExpression: `SET ${changes.map((_, i) => `#${i} = :${i}`).join(", ")}`,
    ConditionExpression: ["attribute_exists(pk)", ...same].join(" AND "),
    ExpressionAttributeNames: Object.fromEntries(names),
    ExpressionAttributeValues: Object.fromEntries(values.filter(([, value]) => value !== undefined)),
  };
}

/**
 * Runs such an update.
 *
 * @returns the updated item
 * @throws StaleReadError when the item is not as it was read, or a transaction holds it
 */
export async function updateItem(update: ReturnType<typeof buildUpdate>): Promise<Item> {
  try {
    const { Attributes = {} } = await table.send(new UpdateCommand({ ...update, ReturnValues: "ALL_NEW" }));
    return Attributes;
  } catch (error) {
    throw isWriteConflict(error) ? new StaleReadError() : error;
  }
}
