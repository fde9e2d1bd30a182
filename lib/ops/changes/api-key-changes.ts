import { PutCommand, paginateQuery } from "@aws-sdk/lib-dynamodb";
import { ulid } from "ulid";
import { newApiKey, parseApiKey } from "../../../shared/domain/api-key-format.ts";
import { type ApiKey, toApiKey } from "../../../shared/domain/api-keys.ts";
import { accountApiKeysPartition, apiKeyKey, indexes } from "../../../shared/dynamodb/keys.ts";
import { type Item, table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { buildUpdate, updateItem } from "./conditional-update.ts";

/** Issues a key for the account. Only the result contains the key: it cannot be shown again. */
export async function issueApiKey(
  accountId: string,
  options: Pick<ApiKey, "label" | "validUntil"> = {},
): Promise<ApiKey & { readonly apiKey: string }> {
  const keyId = ulid();
  const apiKey = newApiKey(keyId);
  const record: ApiKey = { keyId, accountId, createdAt: new Date().toISOString(), ...options };
  const sha256 = parseApiKey(apiKey)?.sha256 ?? "";
  const Item = { ...apiKeyKey(sha256, keyId), byParent: accountApiKeysPartition(accountId), ...record };
  // Without a condition, so that the SDK's retry succeeds after a lost response. No two keys have the same secret.
  await table.send(new PutCommand({ TableName: tableName, Item }));
  return { ...record, apiKey };
}

/** All keys ever issued to the account, oldest first. */
export async function listApiKeys(accountId: string): Promise<ApiKey[]> {
  return (await apiKeyItems(accountId)).map(toApiKey);
}

/**
 * Ends a key now (`revokedAt`) or at a time (`validUntil`).
 *
 * @returns the changed key; undefined if the account has no such key
 */
export async function endApiKey(
  accountId: string,
  keyId: string,
  end: { readonly revokedAt: string } | { readonly validUntil: string },
): Promise<ApiKey | undefined> {
  const item = (await apiKeyItems(accountId)).find((candidate) => candidate.keyId === keyId);
  if (!item) return undefined;
  return toApiKey(await updateItem(buildUpdate({ pk: String(item.pk), sk: String(item.sk) }, end)));
}

async function apiKeyItems(accountId: string): Promise<Item[]> {
  const items = [];
  const pages = paginateQuery(
    { client: table },
    {
      TableName: tableName,
      IndexName: "by-parent",
      KeyConditionExpression: "#partition = :partition",
      ExpressionAttributeNames: { "#partition": indexes["by-parent"] },
      ExpressionAttributeValues: { ":partition": accountApiKeysPartition(accountId) },
    },
  );
  for await (const { Items = [] } of pages) items.push(...Items);
  return items;
}
