import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { type Item, type Key, table, tableName } from "./table-client.ts";

/**
 * The parameters of an update that sets attributes of an item, or removes those that are undefined. Its condition is that
 * the item exists and the `unchanged` attributes are as they were read; undefined stands for a missing attribute.
 */
export function buildUpdate(key: Key, changes: Item, unchanged: Item = {}) {
  const all = Object.entries(changes).map(([name, value], i) => ({ name, value, at: `set${i}` }));
  const read = Object.entries(unchanged).map(([name, value], i) => ({ name, value, at: `read${i}` }));
  const set = all.filter(({ value }) => value !== undefined);
  const removed = all.filter(({ value }) => value === undefined);
  const clauses = [
    set.length > 0 && `SET ${set.map(({ at }) => `#${at} = :${at}`).join(", ")}`,
    removed.length > 0 && `REMOVE ${removed.map(({ at }) => `#${at}`).join(", ")}`,
  ];
  const conditions = read.map(({ value, at }) =>
    value === undefined ? `attribute_not_exists(#${at})` : `#${at} = :${at}`,
  );
  const present = [...set, ...read.filter(({ value }) => value !== undefined)];
  return {
    TableName: tableName,
    Key: key,
    UpdateExpression: clauses.filter(Boolean).join(" "),
    ConditionExpression: ["attribute_exists(pk)", ...conditions].join(" AND "),
    ExpressionAttributeNames: Object.fromEntries([...all, ...read].map(({ name, at }) => [`#${at}`, name])),
    // DynamoDB refuses an empty map.
    ...(present.length > 0 && {
      ExpressionAttributeValues: Object.fromEntries(present.map(({ value, at }) => [`:${at}`, value])),
    }),
  };
}

/** Runs an update of `buildUpdate`. @returns the updated item */
export async function updateItem(update: ReturnType<typeof buildUpdate>): Promise<Item> {
  const command = new UpdateCommand({ ...update, ReturnValues: "ALL_NEW" });
  const { Attributes = {} } = await table.send(command);
  return Attributes;
}
