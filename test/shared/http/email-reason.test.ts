import { fullFormats } from "ajv-formats/dist/formats.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { emailReason } from "../../../shared/http/email-reason.ts";

const format = fullFormats.email as RegExp;

const ascii = "must have visible ASCII characters only, and an international domain in its xn-- form";
const dots = "must not have a dot at the start, at the end or beside another dot";
const hyphen = "must not have a hyphen at the start or the end of a part of its domain";
const noDomain = "must have a domain with a dot after the @, such as example.com";

describe("the reason why an email address is refused", () => {
  test.each([
    ["", "must not be empty"],
    ["ada", "must have an @"],
    ["@", "must have a name before the @"],
    ["@example.com", "must have a name before the @"],
    ["ada@", "must have a domain after the @"],
    ["ada@b@example.com", "must be one address with one @"],
    ["a@example.com,b@example.com", "must be one address with one @"],
    ["ada@@example.com", "must be one address with one @"],
    [" ada@example.com", "must not contain spaces or line breaks"],
    ["ada@example.com\n", "must not contain spaces or line breaks"],
    ["Ada <ada@example.com>", "must not contain spaces or line breaks"],
    ["a\u00a0b@example.com", "must not contain spaces or line breaks"],
    ["zoë@example.com", ascii],
    ["ada@münchen.de", ascii],
    ["a\0b@example.com", ascii],
    ["a\ud800@example.com", ascii],
    ["<ada@example.com>", "must not contain < before the @"],
    ["mailto:ada@example.com", "must not contain : before the @"],
    ['"ada"@example.com', 'must not contain " before the @'],
    [".ada@example.com", `${dots} before the @`],
    ["ada.@example.com", `${dots} before the @`],
    ["a..b@example.com", `${dots} before the @`],
    ["ada@localhost", noDomain],
    ["ada@example.com.", `${dots} after the @`],
    ["ada@.example.com", `${dots} after the @`],
    ["ada@example..com", `${dots} after the @`],
    ["ada@-example.com", hyphen],
    ["ada@example-.com", hyphen],
    ["ada@example.com-", hyphen],
    ["ada@my_host.com", "must not contain _ after the @"],
    ["ada@[127.0.0.1]", "must not contain [ after the @"],
    ["ada@example.com>", "must not contain > after the @"],
  ])("%j", (address, reason) => {
    expect(format.test(address)).toBe(false);
    expect(emailReason(address)).toBe(reason);
  });

  const isRefused = (address: string) => !format.test(address);
  const hasReason = (address: string) => emailReason(address) !== undefined;

  test("exists for every short text that the validator refuses, and for no other", () => {
    const units = [..."a0.-@_+< é\n"];
    let texts = [""];
    for (let length = 0; length <= 4; length++) {
      for (const text of texts) if (isRefused(text) !== hasReason(text)) expect(text).toBe("consistent");
      texts = texts.flatMap((text) => units.map((unit) => text + unit));
    }
    expect(texts).toHaveLength(units.length ** 5);
  });

  test("exists for every text that the validator refuses, and for no other", () => {
    const part = fc.string({ unit: fc.constantFrom(..."abcZ09.-_+'é\u017f\u212a\0 "), maxLength: 8 });
    const address = fc.oneof(
      fc.tuple(part, fc.constantFrom("@", "@@", ""), part, fc.constantFrom("", ".com", "."), part),
      fc.tuple(fc.emailAddress(), part),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          address.map((parts) => parts.join("")),
          fc.string({ unit: "binary" }),
        ),
        (text) => {
          expect(hasReason(text)).toBe(isRefused(text));
        },
      ),
      { numRuns: 1000 },
    );
  });

  test("is found in time that is linear in the length of the address", () => {
    for (const unit of ["a", ".", "-", "a.b@", "b-", "_", "é"]) {
      const start = performance.now();
      emailReason(`a@${unit.repeat(200_000)}`);
      emailReason(`${unit.repeat(200_000)}@a`);
      expect(performance.now() - start).toBeLessThan(1000);
    }
  });
});
