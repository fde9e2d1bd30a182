import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { knownName } from "../../../shared/http/known-name.ts";

const parameters = [
  ..."page limit id leadId email channel status source tags name message".split(" "),
  "createdAfter",
  "createdBefore",
];

describe("the known name", () => {
  test.each([
    ["CREATED-BEFORE", "createdBefore"],
    ["lead", "leadId"],
    ["mail", "email"],
    ["e-mail", "email"],
    ["tag", "tags"],
    ["_id", "id"],
    ["fullName", "name"],
    ["first_name", "name"],
    ["Lead Status", "status"],
    ["messageId", "id"],
  ])("of %s is %s", (name, meant) => {
    expect(knownName(name, parameters)).toBe(meant);
  });

  test.each([
    ..."x sort date note phone text body nmae chanel 字".split(" "),
    "",
    "-",
  ])("does not exist for %j", (name) => {
    expect(knownName(name, parameters)).toBeUndefined();
  });

  test("is searched in linear time: for a million letters, quadratic work would take hours", () => {
    for (const unit of ["a", "createdAfter", "-", "\u{1F600}"])
      expect(knownName(unit.repeat(1_000_000), parameters)).toBeUndefined();
  });

  test("is one of the known names, and the name itself if it is known in any notation", () => {
    const notations = [
      (name: string) => name,
      (name: string) => name.toUpperCase(),
      (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      (name: string) => `${name}[]`,
    ];
    for (const name of parameters)
      for (const notation of notations) expect(knownName(notation(name), parameters)).toBe(name);
    fc.assert(
      fc.property(fc.string({ maxLength: 64 }), (name) => {
        expect([undefined, ...parameters]).toContain(knownName(name, parameters));
      }),
    );
  });
});
