import fc from "fast-check";
import { ulid } from "ulid";
import { describe, expect, test, vi } from "vitest";
import { newApiKey, parseApiKey } from "../../../shared/domain/api-key-format.ts";

describe("an API key", () => {
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
