import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nearestName } from "../../../shared/http/nearest-name.ts";

const parameters = [
  ..."page limit id leadId email channel status source tags name message".split(" "),
  "createdAfter",
  "createdBefore",
];

describe("the nearest name", () => {
  test.each([
    ["CREATED-BEFORE", "createdBefore"],
    ["createdAt", "createdAfter"],
    ["lead", "leadId"],
    ["chanel", "channel"],
    ["state", "status"],
    ["mail", "email"],
    ["e-mail", "email"],
    ["nmae", "name"],
    ["tag", "tags"],
    ["pages", "page"],
    ["_id", "id"],
    ["fullName", "name"],
    ["first_name", "name"],
    ["Lead Status", "status"],
    ["messageId", "id"],
  ])("of %s is %s", (name, nearest) => {
    expect(nearestName(name, parameters)).toBe(nearest);
  });

  test.each([
    ..."x sort date note phone text body 字".split(" "),
    "",
    "-",
    "createdAfter".repeat(5),
  ])("does not exist for %j", (name) => {
    expect(nearestName(name, parameters)).toBeUndefined();
  });

  test("is searched in linear time: for a million letters, quadratic work would take hours", () => {
    for (const unit of ["a", "createdAfter", "-", "\u{1F600}"])
      expect(nearestName(unit.repeat(1_000_000), parameters)).toBeUndefined();
  });

  test("is one of the known names, and the name itself if it is known in any notation", () => {
    const notations = [
      (name: string) => name,
      (name: string) => name.toUpperCase(),
      (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      (name: string) => `${name}[]`,
    ];
    for (const name of parameters)
      for (const notation of notations) expect(nearestName(notation(name), parameters)).toBe(name);
    fc.assert(
      fc.property(fc.string({ maxLength: 64 }), (name) => {
        expect([undefined, ...parameters]).toContain(nearestName(name, parameters));
      }),
    );
  });
});
