import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { openApiDocument } from "../../../lib/openapi/document.ts";
import { withPortablePattern } from "../../../lib/openapi/portable-patterns.ts";
import * as fields from "../../../shared/schemas/field-schemas.ts";
import { requestOptions } from "../../../shared/schemas/validator.ts";

const { tag, label, name, messageText, externalId } = fields;
const schemas = { tag, label, name, messageText, metadata: fields.metadata.additionalProperties, externalId };

describe.each(Object.entries(schemas))("the pattern of a %s", (_, schema) => {
  const validate = new Ajv2020(requestOptions).compile(schema);
  // With and without the `u` flag of regular expressions.
  const others = [true, false].map((unicodeRegExp) =>
    new Ajv2020({ unicodeRegExp }).compile(withPortablePattern(schema)),
  );

  test("accepts every character that the service accepts, alone and in a text, and no other ASCII character", () => {
    const different: string[] = [];
    for (let code = 0; code <= 0xffff; code++) {
      const character = String.fromCharCode(code);
      if (!character.isWellFormed()) continue;
      for (const value of [character, ` ${character}`, `a${character}\u{1F600}`]) {
        const accepts = validate(value);
        if (others.some((other) => other(value) !== accepts && (accepts || code < 0x80)))
          different.push(value);
      }
    }
    expect(different).toEqual([]);
  });

  test("accepts unpaired surrogates, which only the validator refuses", () => {
    for (const value of ["a\ud800", "\udc00a", "a\udc00\ud800"]) {
      expect(validate(value)).toBe(false);
      expect(others.map((other) => other(value))).toEqual([true, true]);
    }
  });
});

test("no pattern of the document uses syntax that only some languages support, or characters that end a literal", () => {
  const patterns = JSON.stringify(openApiDocument()).match(/(?<="pattern":)"(?:[^"\\]|\\.)*"/g) ?? [];
  expect(patterns.length).toBeGreaterThan(10);
  for (const pattern of patterns.map((json): string => JSON.parse(json))) {
    expect(pattern).toMatch(/^\^[ !#-~]*\$$/);
    expect(pattern).not.toMatch(/\\[a-wyzA-Z0-9]|\\x[89A-F]|\(\?[^:]/);
    // In a class, Java reads a bracket as another class, and Python warns of it.
    expect(pattern.replaceAll(/\\./g, "")).not.toMatch(/\[[^\]]*\[/);
  }
});
