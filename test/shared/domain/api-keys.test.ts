import { expect, test } from "vitest";
import { type ApiKey, apiKeyState } from "../../../shared/domain/api-keys.ts";

const validUntil = "2030-01-01T00:00:00.000Z";
const expiry = Date.parse(validUntil);
const key: ApiKey = { keyId: "1", accountId: "acme", access: "full", createdAt: "2026-01-01T00:00:00.000Z" };

test.each<[string, Readonly<Record<string, unknown>>, number]>([
  ["live", {}, Number.MAX_SAFE_INTEGER],
  ["live", { validUntil }, expiry - 1],
  ["expired", { validUntil }, expiry],
  // An expiry that cannot be read.
  ["expired", { validUntil: "" }, 0],
  ["expired", { validUntil: "2030-13-01T00:00:00.000Z" }, 0],
  ["invalid", { access: "" }, 0],
  ["invalid", { access: "write" }, 0],
  ["invalid", { access: null }, 0],
  ["revoked", { revokedAt: "2026-02-01T00:00:00.000Z" }, 0],
  ["revoked", { revokedAt: "2026-02-01T00:00:00.000Z", validUntil }, expiry],
  ["revoked", { revokedAt: "2026-02-01T00:00:00.000Z", access: "write" }, 0],
])("a key is %s with %j at %i", (state, fields, now) => {
  expect(apiKeyState({ ...key, ...fields } as ApiKey, now)).toBe(state);
});
