/** What a key may do: everything, or only read. */
export const accesses = ["full", "read"] as const;

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
export function apiKeyState({ access, validUntil, revokedAt }: ApiKey): KeyState {
  if (revokedAt !== undefined) return "revoked";
  if (!accesses.includes(access)) return "invalid";
  return validUntil === undefined || Date.parse(validUntil) > Date.now() ? "live" : "expired";
}
