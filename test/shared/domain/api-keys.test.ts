import { describe, expect, test } from "vitest";
import { type ApiKey, apiKeyState } from "../../../shared/domain/api-keys.ts";

const validUntil = "2030-01-01T00:00:00.000Z";
const expiry = Date.parse(validUntil);
const createdAt = "2026-01-01T00:00:00.000Z";
const key: ApiKey = { keyId: "1", accountId: "acme", access: "full", createdAt };

describe("a key", () => {
  test.each([
    [-1, "live"],
    [0, "expired"],
    [1, "expired"],
  ])("%i ms after its expiry is %s", (milliseconds, state) => {
    expect(apiKeyState({ ...key, validUntil }, expiry + milliseconds)).toBe(state);
  });

  test("without an expiry is live", () => {
    expect(apiKeyState(key, Number.MAX_SAFE_INTEGER)).toBe("live");
  });

  test.each([
    "",
    "never",
    "2030-13-01T00:00:00.000Z",
  ])("with the unreadable expiry %j is expired", (wrong) => {
    expect(apiKeyState({ ...key, validUntil: wrong }, 0)).toBe("expired");
  });

  test.each([
    "",
    "write",
    null,
    undefined,
  ])("with the unknown access %j is invalid, unless it is revoked", (access) => {
    const unknown = { ...key, access } as unknown as ApiKey;
    expect(apiKeyState(unknown)).toBe("invalid");
    expect(apiKeyState({ ...unknown, revokedAt: validUntil })).toBe("revoked");
  });

  test("that is revoked is revoked, whatever its expiry", () => {
    const revokedAt = "2026-02-01T00:00:00.000Z";
    expect(apiKeyState({ ...key, revokedAt }, expiry)).toBe("revoked");
    expect(apiKeyState({ ...key, revokedAt, validUntil }, expiry)).toBe("revoked");
  });
});
