import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { invalidJsonMessage } from "../../../shared/http/invalid-json.ts";

const number = "write the number as JSON does, such as 0.5 or -1";
const word = "put the word in double quotes: only numbers, true, false and null stand without them";
const quotes = 'use straight double quotes (")';
const comma = "remove the comma before the bracket";
const open = "close the string that starts here with a double quote";
const escapes = "write each backslash of the string that starts here as \\\\";
const inQuotes = (code: string) => `remove the character ${code}, or put it in double quotes`;

describe("the message of a body that is not JSON", () => {
  test.each([
    ["{", 1, 2, "the text ends too early"],
    [" \n", 2, 1, "the text ends too early"],
    ['{"name":"Ada"', 1, 14, "the text ends too early"],
    ['{"name":', 1, 9, "the text ends too early"],
    ['{"name":"Ada",}', 1, 15, comma],
    ['{\r\n  "tags": ["vip",\n  ]\n}', 3, 3, comma],
    ["{'name':'Ada'}", 1, 2, quotes],
    ["{“name”:“Ada”}", 1, 2, quotes],
    ["`{}`", 1, 1, quotes],
    ['{name:"Ada"}', 1, 2, word],
    ['{"name":Ada}', 1, 9, word],
    ['{"name":NaN}', 1, 9, word],
    ['{"name":undefined}', 1, 9, word],
    ['{"name":None}', 1, 9, word],
    ["name: Ada", 1, 1, word],
    ["name=Ada&email=ada%40example.com", 1, 1, "send a JSON object in place of form fields"],
    ['\ufeff{"name":"Ada"}', 1, 1, "remove the byte order mark"],
    ['{"name" "Ada"}', 1, 9, "add a colon after the name"],
    ['{"name":"Ada" "source":"a"}', 1, 15, "add a comma"],
    ['{"name":}', 1, 9, "add the missing value"],
    ['{"name":,"source":"a"}', 1, 9, "add the missing value"],
    ['{1:"Ada"}', 1, 2, "put a name in double quotes"],
    ['{"name":"Ada",,"source":"a"}', 1, 15, "put a name in double quotes"],
    ['{"tags":["vip"}', 1, 15, "use the other closing bracket"],
    ['{"name":"Ada"}{"name":"Ada"}', 1, 15, "remove what follows the JSON value"],
    ['// a lead\n{"name":"Ada"}', 1, 1, "remove the comment"],
    ['{"name":"Ada" /* a lead */}', 1, 15, "remove the comment"],
    ['{"name":"Ada}', 1, 9, open],
    ['{"name":"Ada\nLovelace"}', 1, 9, `${open}, or escape its line break as \\n`],
    ['{"name":"a\tb"}', 1, 9, "escape the control characters of the string that starts here, a tab as \\t"],
    ['{"name":"C:\\Users"}', 1, 9, escapes],
    ['{"name":"\\u12"}', 1, 9, "give each \\u of the string that starts here four hexadecimal digits"],
    ['{"score":.5}', 1, 10, number],
    ['{"score":+1}', 1, 10, number],
    ['{"score":-}', 1, 10, number],
    ['{"score":1.}', 1, 10, number],
    ['{"score":1e}', 1, 10, number],
    ['{"score":-Infinity}', 1, 10, number],
    ['{"score":007}', 1, 11, "write the number without leading zeros"],
    ["<lead/>", 1, 1, inQuotes("U+003C")],
    ['{"name":\u00a0"Ada"}', 1, 9, inQuotes("U+00A0")],
    ["\0", 1, 1, inQuotes("U+0000")],
    ["\u{1F600}", 1, 1, inQuotes("U+1F600")],
  ])("%j", (text, line, column, remedy) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(invalidJsonMessage(text)).toBe(`must be valid JSON: at line ${line}, column ${column}, ${remedy}`);
  });

  test.each(["[", '{"a":', "[1,"])("names no place past 100 levels of %s", (opening) => {
    expect(invalidJsonMessage(opening.repeat(100))).toMatch(/the text ends too early$/);
    for (const levels of [101, 10_000])
      expect(invalidJsonMessage(opening.repeat(levels))).toBe("must be valid JSON");
  });

  test("names the place after any number of objects and arrays that are closed", () => {
    expect(invalidJsonMessage(`[${'[],{"a":{}},'.repeat(500)}`)).toMatch(
      /column 6002, the text ends too early$/,
    );
  });
});

/** Texts of tokens, most of which are not JSON. */
const brokenTexts = fc
  .array(
    fc.oneof(
      fc.constantFrom(..."{}[],:\"'\\\n\r\t /*=#-+.0123eE_$\ufeff\u00a0"),
      fc.constantFrom(
        "true",
        "false",
        "null",
        '"canary"',
        "canary",
        '"a":',
        "NaN",
        "\\u00",
        "//",
        "\u{1F600}",
      ),
      fc.json({ maxDepth: 2 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""))
  .filter((text) => !isJson(text));

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test("every text that is not JSON has a message with a place in it, before which nothing is wrong, and repeats none of it", () => {
  fc.assert(
    fc.property(brokenTexts, (text) => {
      const message = invalidJsonMessage(text);
      const place = /^must be valid JSON: at line (\d+), column (\d+), ./.exec(message) ?? [];
      const [line, column] = [Number(place[1]), Number(place[2])];
      const lines = text.split(/(?<=\r\n|\r(?!\n)|\n)/);
      expect(line).toBeGreaterThan(0);
      expect(line).toBeLessThanOrEqual(text.split(/\r\n|\r|\n/).length);
      const atLine = lines[line - 1] ?? "";
      expect(column).toBeGreaterThan(0);
      expect(column).toBeLessThanOrEqual(atLine.replace(/[\r\n]+$/, "").length + 1);
      const before = lines.slice(0, line - 1).join("") + atLine.slice(0, column - 1);
      // Up to there, it only ends too early.
      const isGood = isJson(before) || /ends too early$/.test(invalidJsonMessage(before));
      expect(isGood, JSON.stringify({ text, before })).toBe(true);
      expect(message).not.toContain("canary");
      expect(message.length).toBeLessThan(200);
    }),
    { numRuns: 2000 },
  );
});
