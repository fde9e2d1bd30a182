import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { buildUpdate, updateItem } from "../../../../lib/ops/common/write-items.ts";
import { type Item, type Key, table, tableName } from "../../../../shared/dynamodb/table-client.ts";

/** Sets attributes of an item. */
export const setAttributes = (key: Key, attributes: Item) => updateItem(buildUpdate(key, attributes));

/** Removes attributes of an item, such as those that an older version of the code did not set. */
export const removeAttributes = (key: Key, names: readonly string[]) =>
  table.send(
    new UpdateCommand({
      TableName: tableName,
      Key: key,
      UpdateExpression: `REMOVE ${names.map((_, i) => `#${i}`).join(", ")}`,
      ExpressionAttributeNames: Object.fromEntries(names.map((name, i) => [`#${i}`, name])),
    }),
  );
