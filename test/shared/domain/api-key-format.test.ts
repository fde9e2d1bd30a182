import fc from "fast-check";
import { ulid } from "ulid";
import { describe, expect, test, vi } from "vitest";
import { newApiKey, parseApiKey } from "../../../shared/domain/api-key-format.ts";

describe("an API key", () => {
  test("has the format lck_<keyId>_<secret>_<checksum> and can be parsed", () => {
    const keyId = ulid();
    const apiKey = newApiKey(keyId);
    expect(apiKey).toMatch(new RegExp(`^lck_${keyId}_[0-9A-Za-z]{27}_[0-9A-Za-z]{6}$`));
    expect(parseApiKey(apiKey)).toEqual({ keyId, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  test("ends with the checksum of the rest, and is stored as the SHA-256 of the whole key", () => {
    // Python's zlib computes the CRC-32 2089826319, in base 62 2HQhI7. Python's hashlib computes this SHA-256.
    const apiKey = `lck_01JZ0000000000000000000000_${"0".repeat(27)}_2HQhI7`;
    expect(parseApiKey(apiKey)).toEqual({
      keyId: "01JZ0000000000000000000000",
      sha256: "2aee1f2d431cf09fdc5573b537d8b01902ee336464b8b67382568105033ee965",
    });
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

  test("has a secret of its own, in which each of 62 characters is equally likely at each place", () => {
    const keyId = ulid();
    const secrets = Array.from({ length: 10_000 }, () => newApiKey(keyId).split("_")[2] ?? "");
    expect(new Set(secrets).size).toBe(secrets.length);
    for (let place = 0; place < 27; place++)
      expect(new Set(secrets.map((secret) => secret[place])).size).toBe(62);
    const counts = [...Map.groupBy(secrets.join(""), (character) => character).values()].map(
      ({ length }) => length,
    );
    // 4,355 of each, with a standard deviation of 66.
    expect(Math.min(...counts)).toBeGreaterThan(3900);
    expect(Math.max(...counts)).toBeLessThan(4800);
  });

  test("cannot be derived from the time, Math.random or earlier keys", () => {
    vi.useFakeTimers({ toFake: ["Date", "performance", "hrtime"] });
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    const [first, second] = ["01JZ0000000000000000000000", "01JZ0000000000000000000001"].map(
      (keyId) => newApiKey(keyId).split("_")[2] ?? "",
    );
    const same = [...(first ?? "")].filter((character, place) => character === second?.[place]);
    // By chance, 12 of 27 places are the same once in 10^14 runs.
    expect(same.length).toBeLessThan(12);
  });
});
