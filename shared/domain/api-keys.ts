import { apiKeyKey } from "../dynamodb/keys.ts";
import { type Item, readItem } from "../dynamodb/table-client.ts";
import { parseApiKey } from "./api-key-format.ts";

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

/** The state of a key at a time, in milliseconds since the epoch. Treats an unreadable expiry as expired. */
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

/** The API key of an item. */
export function toApiKey(item: Item): ApiKey {
  const { pk, sk, byParent, ...record } = item;
  return record as unknown as ApiKey;
}
