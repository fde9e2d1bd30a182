import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { StaleReadError } from "./retry.ts";
import { table, tableName } from "./table-client.ts";

type Attributes = Readonly<Record<string, unknown>>;

/**
 * The parameters of an update that sets attributes of an item, on the condition that it exists and that other
 * attributes are as they were read; undefined stands for one that is not there.
 */
export function buildUpdate(
  key: Readonly<Record<string, string>>,
  set: Attributes,
  unchanged: Attributes = {},
) {
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
 * Makes such an update.
 *
 * @returns the item as it is then
 * @throws StaleReadError when the item is not as it was read, or is in a transaction
 */
export async function updateItem(update: ReturnType<typeof buildUpdate>): Promise<Record<string, unknown>> {
  try {
    const { Attributes = {} } = await table.send(new UpdateCommand({ ...update, ReturnValues: "ALL_NEW" }));
    return Attributes;
  } catch (error) {
    const conflict = error instanceof Error && error.name === "TransactionConflictException";
    throw conflict || error instanceof ConditionalCheckFailedException ? new StaleReadError() : error;
  }
}
