import { PutCommand, paginateQuery } from "@aws-sdk/lib-dynamodb";
import { ulid } from "ulid";
import { buildUpdate, updateItem } from "../dynamodb/conditional-update.ts";
import { accountApiKeysPartition, apiKeyKey, indexes } from "../dynamodb/keys.ts";
import { readItem, table, tableName } from "../dynamodb/table-client.ts";
import { newApiKey, parseApiKey } from "./api-key-format.ts";

/** What the authorizer passes to the routes. */
export interface AuthorizerContext {
  readonly accountId: string;
  readonly keyId: string;
}

/** An API key as it is stored: without the key itself, of which only a digest is kept. */
export interface ApiKey {
  readonly keyId: string;
  readonly accountId: string;
  readonly label?: string;
  readonly createdAt: string;
  /** ISO 8601 UTC timestamp of its expiry. */
  readonly validUntil?: string;
  /** ISO 8601 UTC timestamp of its revocation. */
  readonly revokedAt?: string;
}

/**
 * The state of a key at a time, in milliseconds since the epoch. Treats an unreadable expiry as expired.
 */
export function apiKeyState(
  { validUntil, revokedAt }: ApiKey,
  now = Date.now(),
): "live" | "expired" | "revoked" {
  if (revokedAt !== undefined) return "revoked";
  return validUntil === undefined || Date.parse(validUntil) > now ? "live" : "expired";
}

/** The account of a live key; undefined for any other text. A malformed key causes no read. */
export async function findApiKey(apiKey: string): Promise<AuthorizerContext | undefined> {
  const parts = parseApiKey(apiKey);
  if (!parts) return undefined;
  const item = await readItem(apiKeyKey(parts.sha256, parts.keyId));
  if (!item) return undefined;
  const record = toApiKey(item);
  return apiKeyState(record) === "live" ? { accountId: record.accountId, keyId: record.keyId } : undefined;
}

/** Issues a key for the account. Only the result contains the key: it cannot be shown again. */
export async function issueApiKey(
  accountId: string,
  options: Pick<ApiKey, "label" | "validUntil"> = {},
): Promise<ApiKey & { readonly apiKey: string }> {
  const keyId = ulid();
  const apiKey = newApiKey(keyId);
  const record: ApiKey = { keyId, accountId, createdAt: new Date().toISOString(), ...options };
  const sha256 = parseApiKey(apiKey)?.sha256 ?? "";
  await table.send(
    new PutCommand({
      TableName: tableName,
      Item: { ...apiKeyKey(sha256, keyId), byParent: accountApiKeysPartition(accountId), ...record },
      ConditionExpression: "attribute_not_exists(pk)",
    }),
  );
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

async function apiKeyItems(accountId: string): Promise<Record<string, unknown>[]> {
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

function toApiKey(item: Record<string, unknown>): ApiKey {
  const { pk, sk, byParent, ...record } = item;
  return record as unknown as ApiKey;
}
