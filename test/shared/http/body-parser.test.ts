import { expect, test } from "vitest";
import { call } from "../../support/requests/call.ts";
import { useTable } from "../../support/tables/watched-table.ts";

useTable();

/** The message of the one fault of a body that is not JSON. */
async function refuse(body: string): Promise<string> {
  const { problem } = await call("create-lead", { body });
  expect(problem.errors).toMatchObject([{ in: "body", field: "", code: "invalid_json" }]);
  return String(problem.errors?.[0]?.message);
}

test.each([
  ['{"name":', ": unexpected end of JSON input"],
  ['{"name":"Ada"', ": expected ',' or '}' after property value at line 1, column 14"],
  ['{\r\n  "name": "Ada",\n}', ": expected double-quoted property name at line 3, column 1"],
  ['{"name":"Ada"}{}', ": unexpected non-whitespace character after JSON at line 1, column 15"],
  ['{"name":"a\tb"}', ": bad control character in string literal at line 1, column 11"],
  ['{"name":Ada}', ": unexpected token 'A'"],
  ["name=Ada&email=ada%40example.com", ": unexpected token 'a'"],
  ['{"tags":["vip",\n]}', ": unexpected token ']'"],
  ['{"name":\'', ": unexpected token '''"],
  ["\0", ": unexpected token U+0000"],
  ["\ufeff{}", ": unexpected token U+FEFF"],
  ['{"name":\u201cAda\u201d}', ": unexpected token U+201C"],
  ["\u{1F600}", ": unexpected token U+D83D"],
  ["NaN", ""],
])("the message of the body %j has V8's reason and no more", async (body, reason) => {
  expect(await refuse(body)).toBe(`must be valid JSON${reason}`);
});

test("no message repeats more than one character of the body", async () => {
  const open = '{"name":"Ada","tags":["vip",{"a":null}],"score":-1.5e2,"isNew":true';
  for (const secret of ["ZQXJ", '"ZQXJ', "\tZQXJ", "\\ZQXJ", "\u00e9ZQXJ", '", "ZQXJ'])
    for (let at = 0; at <= open.length; at++)
      expect(await refuse(open.slice(0, at) + secret + open.slice(at))).not.toMatch(/[ZQXJ]{2}/);
});
