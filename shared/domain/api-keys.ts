import { checkKeys, ifValid, isText, optional, readFields } from "../dynamodb/invalid-items.ts";
import { apiKeyKey } from "../dynamodb/keys.ts";
import { readItem } from "../dynamodb/table-client.ts";
import { parseApiKey } from "./api-key-format.ts";

/** What a key may do: everything, only read, or only create leads. */
export const accesses = ["full", "read", "create"] as const;

export type Access = (typeof accesses)[number];

/** An API key as it is stored: without the key itself, of which only a digest is kept. */
export interface ApiKey {
  readonly keyId: string;
  readonly accountId: string;
  readonly label?: string;
  readonly access: Access;
  readonly createdAt: string;
  /** ISO 8601 UTC timestamp of its expiry. */
  readonly validUntil?: string;
  /** ISO 8601 UTC timestamp of its revocation. */
  readonly revokedAt?: string;
}

export type KeyState = "live" | "expired" | "revoked" | "invalid";

/** The state of a key now. Treats an invalid expiry as expired; a key without a known access is invalid. */
export function apiKeyState({ access, validUntil, revokedAt }: Omit<ApiKey, "createdAt">): KeyState {
  if (revokedAt !== undefined) return "revoked";
  if (!accesses.includes(access)) return "invalid";
  return validUntil === undefined || Date.parse(validUntil) > Date.now() ? "live" : "expired";
}

/** What the authorizer passes to the routes. */
export interface AuthorizerContext extends Pick<ApiKey, "accountId" | "keyId" | "access"> {
  /** How many requests the account may make in a window; absent if it has the limit of its stage. */
  readonly rateLimitRequests?: number;
  /** Since when the account is frozen; absent if it takes writes. */
  readonly frozenAt?: string;
}

/** Why a text is refused as an API key: for logs, never for the caller. */
export type KeyRefusal = "not a key" | "mistyped" | "unknown" | Exclude<KeyState, "live">;

/** Finds the account and the access of a live key, or why the key is refused. A text that cannot be a key causes no read. */
export async function findApiKey(apiKey: string): Promise<AuthorizerContext | KeyRefusal> {
  const parts = parseApiKey(apiKey);
  if (!parts) return apiKey.startsWith("lck_") ? "mistyped" : "not a key";
  const item = await readItem(apiKeyKey(parts.sha256, parts.keyId));
  if (!item) return "unknown";
  const record = ifValid(() => {
    const times = { validUntil: optional(isText), revokedAt: optional(isText) };
    const fields = readFields(item, { keyId: isText, accountId: isText, access: isText, ...times });
    checkKeys(item, { pk: item.pk, sk: fields.keyId });
    // `apiKeyState` finds an unknown access.
    return { ...fields, access: fields.access as Access };
  });
  if (!record) return "invalid";
  const state = apiKeyState(record);
  if (state !== "live") return state;
  const { accountId, keyId, access } = record;
  return { accountId, keyId, access };
}
