import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { leadImportKey } from "../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";

/**
 * When the first import of a file into the account began, which may be now.
 *
 * @param sha256 of the file's bytes, in hexadecimal
 * @returns milliseconds since the epoch
 */
export async function startOfImport(account: string, sha256: string): Promise<number> {
  const { Attributes } = await table.send(
    new UpdateCommand({
      TableName: tableName,
      Key: leadImportKey(account, sha256),
      UpdateExpression: "SET startedAt = if_not_exists(startedAt, :now)",
      ExpressionAttributeValues: { ":now": new Date().toISOString() },
      ReturnValues: "ALL_NEW",
    }),
  );
  return Date.parse(Attributes?.startedAt);
}
