import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { openApiDocument } from "../../../lib/openapi/document.ts";
import { withPortablePattern } from "../../../lib/openapi/portable-patterns.ts";
import { externalId, label, messageText, metadata, name } from "../../../shared/schemas/field-schemas.ts";
import { requestOptions } from "../../../shared/schemas/validator.ts";

const document = JSON.stringify(openApiDocument());

/** Validators of the schema in the document: with regular expressions that have the `u` flag, and that do not. */
const documented = (schema: object) =>
  [true, false].map((unicodeRegExp) => new Ajv2020({ unicodeRegExp }).compile(withPortablePattern(schema)));

const schemas = { label, name, messageText, metadata: metadata.additionalProperties, externalId };

describe.each(Object.entries(schemas))("the pattern of a %s", (_, schema) => {
  const validate = new Ajv2020(requestOptions).compile(schema);
  const others = documented(schema);
  // No pattern of all languages has what Unicode formats texts by, which the service refuses in an external id.
  const isOmitted = (character: string) =>
    !character.isWellFormed() || (schema === externalId && /\p{Cf}/u.test(character));

  test("accepts the same characters, alone and in a text", () => {
    const different: string[] = [];
    for (let code = 0; code <= 0xffff; code++) {
      const character = String.fromCharCode(code);
      if (isOmitted(character)) continue;
      for (const value of [character, ` ${character}`, `a${character}\u{1F600}`])
        if (others.some((other) => other(value) !== validate(value))) different.push(value);
    }
    expect(different).toEqual([]);
  });

  test("accepts the same characters where only the spaces of ASCII are \\s, but for two separators", () => {
    const { pattern } = withPortablePattern(schema) as { pattern: string };
    const inOtherLanguage = new RegExp(pattern.replace("\\s", " \\t\\n\\f\\r"));
    const different = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter(
      (character) => !isOmitted(character) && inOtherLanguage.test(character) !== validate(character),
    );
    expect(different).toEqual(pattern.includes("\\s") ? ["\u2028", "\u2029"] : []);
  });

  test("does not know unpaired surrogates, which only the validator refuses", () => {
    for (const value of ["a\ud800", "\udc00a", "a\udc00\ud800"]) {
      expect(validate(value)).toBe(false);
      expect(others.map((other) => other(value))).toEqual([true, true]);
    }
  });
});

test("no pattern of the document uses what only some languages know", () => {
  const patterns = Array.from(document.matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g), ([, json = ""]) =>
    JSON.parse(json),
  );
  expect(patterns.length).toBeGreaterThan(20);
  for (const pattern of new Set<string>(patterns)) {
    expect(pattern).toMatch(/^\^.*\$$/);
    expect(pattern).not.toMatch(/\\[a-rt-wyzA-Z0-9]|\(\?[^:]/);
    // In a class, Java reads a bracket as another class, and Python warns of it.
    expect(pattern.replaceAll(/\\./g, "")).not.toMatch(/\[[^\]]*\[/);
  }
});
