import fc from "fast-check";
import { ulid } from "ulid";
import { describe, expect, test } from "vitest";
import { newApiKey, parseApiKey } from "../../../shared/domain/api-key-format.ts";

describe("an API key", () => {
  test("has the format lck_<keyId>_<secret>_<checksum> and can be parsed", () => {
    const keyId = ulid();
    const apiKey = newApiKey(keyId);
    expect(apiKey).toMatch(new RegExp(`^lck_${keyId}_[0-9A-Za-z]{27}_[0-9A-Za-z]{6}$`));
    expect(parseApiKey(apiKey)).toEqual({ keyId, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  test("ends with the checksum of the rest", () => {
    // CRC-32 of "lck_01JZ0000000000000000000000_000000000000000000000000000" is 2089826319 (by Python's zlib): in base 62, 2HQhI7.
    const body = `lck_01JZ0000000000000000000000_${"0".repeat(27)}`;
    expect(parseApiKey(`${body}_2HQhI7`)?.keyId).toBe("01JZ0000000000000000000000");
  });

  test("is invalid with any one character replaced", () => {
    const apiKey = newApiKey(ulid());
    fc.assert(
      fc.property(fc.nat(apiKey.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (at, character) => {
        fc.pre(apiKey[at] !== character);
        expect(parseApiKey(apiKey.slice(0, at) + character + apiKey.slice(at + 1))).toBeUndefined();
      }),
    );
  });

  test.each([
    "",
    "lck_",
    "lck__a_b",
    `x${newApiKey(ulid())}`,
    `${newApiKey(ulid())}\n`,
    newApiKey(ulid()).toLowerCase(),
  ])("is not %j", (text) => {
    expect(parseApiKey(text)).toBeUndefined();
  });

  test("is different each time", () => {
    const keyId = ulid();
    expect(new Set(Array.from({ length: 1000 }, () => newApiKey(keyId))).size).toBe(1000);
  });
});
