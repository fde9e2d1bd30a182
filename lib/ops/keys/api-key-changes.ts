import { ulid } from "ulid";
import { newApiKey, parseApiKey } from "../../../shared/domain/api-key-format.ts";
import type { ApiKey } from "../../../shared/domain/api-keys.ts";
import { accountKey, accountPartition, apiKeyKey } from "../../../shared/dynamodb/keys.ts";
import { unpaced } from "../../../shared/dynamodb/pace.ts";
import { type Item, readItem, tableName } from "../../../shared/dynamodb/table-client.ts";
import { transact } from "../../../shared/dynamodb/transact.ts";
import { buildUpdate, updateItem } from "../../../shared/dynamodb/updates.ts";
import { UserError } from "../../user-error.ts";
import { isApiKey } from "../table/item-owner.ts";
import { listByParent, readEach } from "../table/read-items.ts";

/**
 * Issues a key for an account. The first key creates the account. Only the result contains the key, which cannot be shown
 * again.
 */
export async function issueApiKey(
  accountId: string,
  { access = "full", ...options }: Partial<Pick<ApiKey, "label" | "access" | "validUntil">> = {},
): Promise<ApiKey & { readonly apiKey: string }> {
  const keyId = ulid();
  const apiKey = newApiKey(keyId);
  const record: ApiKey = { keyId, accountId, access, createdAt: new Date().toISOString(), ...options };
  const sha256 = parseApiKey(apiKey)?.sha256 ?? "";
  const Item = { ...apiKeyKey(sha256, keyId), byParent: accountPartition("apiKey", accountId), ...record };
  const Update = {
    TableName: tableName,
    Key: accountKey(accountId),
    UpdateExpression: "SET createdAt = if_not_exists(createdAt, :now)",
    ExpressionAttributeValues: { ":now": record.createdAt },
  };
  // Without a condition, so that the SDK's retry succeeds after a lost response. No two keys have the same secret.
  await transact([{ Update }, { Put: { TableName: tableName, Item } }]);
  return { ...record, apiKey };
}

export function toApiKey(item: Item): ApiKey {
  const { pk, sk, byParent, imported, ...record } = item;
  return record as unknown as ApiKey;
}

/** All keys ever issued to the account, oldest first. */
export async function listApiKeys(accountId: string): Promise<ApiKey[]> {
  return (await accountApiKeyItems(accountId)).map(toApiKey);
}

/** Ends a key now. @returns the changed key */
export async function revokeApiKey({ pk, sk }: Item): Promise<ApiKey> {
  const key = { pk: String(pk), sk: String(sk) };
  return toApiKey(await updateItem(buildUpdate(key, { revokedAt: new Date().toISOString() })));
}

/**
 * The item of a key; undefined if there is none, or if it belongs to another account than the named one. With the digest of
 * the key, no index is read.
 *
 * @throws UserError for an id without an account
 */
export async function findApiKeyItem(
  { keyId, sha256 }: { readonly keyId: string; readonly sha256?: string },
  account: string | undefined,
): Promise<Item | undefined> {
  if (sha256 !== undefined) {
    const item = await readItem(apiKeyKey(sha256, keyId));
    return account === undefined || item?.accountId === account ? item : undefined;
  }
  if (account === undefined) throw new UserError("The id of a key needs --account; a whole key does not.");
  return (await accountApiKeyItems(account)).find((item) => item.keyId === keyId);
}

/**
 * The items of an account's keys. The index can also list other items: any role that writes items with an index key can
 * put them there. They are ignored, so that nobody can hide a key behind them or stop its revocation.
 *
 * @throws UserError when two keys have the same id
 */
async function accountApiKeyItems(accountId: string): Promise<Item[]> {
  const listed = await listByParent(accountPartition("apiKey", accountId), unpaced);
  // The index does not copy the fields of API keys.
  const items = await readEach(listed.filter(isApiKey), unpaced);
  const ids = items.map(({ keyId }) => keyId);
  const repeated = ids.find((id, i) => ids.indexOf(id) !== i);
  if (repeated !== undefined)
    throw new UserError(
      `The account ${accountId} has two keys with the id ${repeated}: pass the whole key instead of its id.`,
    );
  return items;
}
