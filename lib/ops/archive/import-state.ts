import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { apiKeyState } from "../../../shared/domain/api-keys.ts";
import { accountImportKey } from "../../../shared/dynamodb/keys.ts";
import { readItem, table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { UserError } from "../../errors.ts";
import { hasItems } from "../accounts/account-items.ts";
import type { Pace } from "../common/pace.ts";
import { listApiKeys } from "../keys/api-key-changes.ts";

/**
 * Whether the file was imported completely. Otherwise, checks that it may be: nothing is mixed with other data, and no
 * request changes what the import has not stored yet.
 *
 * @throws UserError when the account has data that this import has not stored, or API keys that work
 */
export async function isImported(account: string, sha256: string, pace: Pace): Promise<boolean> {
  const record = await pace.retry(() => readItem(accountImportKey(account, sha256)));
  if (record?.endedAt !== undefined) return true;
  if (!record && (await hasItems(account, ["lead", "conversation", "erasedLead", "leadImport"], pace)))
    throw new UserError(`The account ${account} is not empty: import the file into another one.`);
  const keys = await pace.retry(() => listApiKeys(account));
  if (keys.some((key) => apiKeyState(key) === "live"))
    throw new UserError(
      `The account ${account} has API keys that work: revoke them, and issue others when the import has ended.`,
    );
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
