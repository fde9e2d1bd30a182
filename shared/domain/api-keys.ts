import { checkKeys, ifValid } from "../dynamodb/invalid-items.ts";
import { apiKeyKey } from "../dynamodb/keys.ts";
import { isText, readFields } from "../dynamodb/read-fields.ts";
import { type Item, readItem } from "../dynamodb/table-client.ts";
import { parseApiKey } from "./api-key-format.ts";
import { type Access, type ApiKey, apiKeyState, type KeyState } from "./api-key-validity.ts";

/** What the authorizer passes to the routes. */
export interface AuthorizerContext {
  readonly accountId: string;
  readonly keyId: string;
  readonly access: Access;
  /** How many requests the account may make in a window; absent if it has the limit of its stage. */
  readonly rateLimitRequests?: number;
}

/** Why a text is refused as an API key: for logs, never for the caller. */
export type KeyRefusal = "not a key" | "mistyped" | "unknown" | Exclude<KeyState, "live">;

/** The account and the access of a live key, or why it is refused. What cannot be a key causes no read. */
export async function findApiKey(apiKey: string): Promise<AuthorizerContext | KeyRefusal> {
  const parts = parseApiKey(apiKey);
  if (!parts) return apiKey.startsWith("lck_") ? "mistyped" : "not a key";
  const item = await readItem(apiKeyKey(parts.sha256, parts.keyId));
  if (!item) return "unknown";
  const record = ifValid(() => checkApiKey(item));
  if (!record) return "invalid";
  const state = apiKeyState(record);
  if (state !== "live") return state;
  const { accountId, keyId, access } = record;
  return { accountId, keyId, access };
}

/** The API key of an item. @throws InvalidItemError */
function checkApiKey(item: Item): ApiKey {
  const required = { keyId: isText, accountId: isText, access: isText };
  const { keyId } = readFields(item, required, { validUntil: isText, revokedAt: isText });
  checkKeys(item, { pk: item.pk, sk: keyId });
  return toApiKey(item);
}

/** The API key of an item. */
export function toApiKey(item: Item): ApiKey {
  const { pk, sk, byParent, ...record } = item;
  return record as unknown as ApiKey;
}
