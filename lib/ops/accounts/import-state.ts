import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { apiKeyState } from "../../../shared/domain/api-keys.ts";
import { accountImportKey, accountPartition } from "../../../shared/dynamodb/keys.ts";
import { readItem, table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { UserError } from "../../errors.ts";
import { listApiKeys } from "../changes/api-key-changes.ts";
import type { Pace } from "../pace.ts";
import { inPartition, queryItems } from "../query-items.ts";

/**
 * Whether the file was imported completely. Otherwise, checks that it may be: nothing is mixed with other data, and no
 * request changes what the import has not stored yet.
 *
 * @throws UserError when the account has data that this import has not stored, or API keys that work
 */
export async function isImported(account: string, sha256: string, pace: Pace): Promise<boolean> {
  const record = await pace.retry(() => readItem(accountImportKey(account, sha256)));
  if (record?.endedAt !== undefined) return true;
  if (!record && (await hasData(account, pace)))
    throw new UserError(`The account ${account} is not empty: import the file into another one.`);
  const keys = await pace.retry(() => listApiKeys(account));
  if (keys.some((key) => apiKeyState(key) === "live"))
    throw new UserError(
      `The account ${account} has API keys that work: revoke them, and issue others when the import has ended.`,
    );
  return false;
}

async function hasData(account: string, pace: Pace): Promise<boolean> {
  for (const type of ["lead", "conversation", "erasedLead", "leadImport"] as const) {
    const partition = inPartition(accountPartition(type, account));
    const { value: items = [] } = await queryItems({ ...partition, Limit: 1 }, pace).next();
    if (items.length > 0) return true;
  }
  return false;
}

/** Records that the import of the file has started, or ended. */
export async function noteImport(
  account: string,
  sha256: string,
  what: "startedAt" | "endedAt",
  pace: Pace,
): Promise<void> {
  const command = new UpdateCommand({
    TableName: tableName,
    Key: accountImportKey(account, sha256),
    UpdateExpression: "SET #what = if_not_exists(#what, :now)",
    ExpressionAttributeNames: { "#what": what },
    ExpressionAttributeValues: { ":now": new Date().toISOString() },
  });
  await pace.retry(() => table.send(command));
}
