import { format } from "node:util";
import { NumberValue } from "@aws-sdk/lib-dynamodb";
import { afterEach, expect, test, vi } from "vitest";
import { formatColumns } from "../../../../lib/ops/output/columns.ts";
import { escapeConsole, escapeText, shellWord, toText } from "../../../../lib/ops/output/printed-text.ts";

afterEach(() => void vi.restoreAllMocks());

const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => String.fromCharCode(from + i));

const unsafe = [
  ...[...range(0, 0x1f), ...range(0x7f, 0x9f), "\u2028", "\u2029"],
  ...["\u061c", "\u200e", "\u200f", ...range(0x202a, 0x202e), ...range(0x2066, 0x2069)],
];

test("control characters, line separators and marks of direction are escaped, and no others", () => {
  for (const character of unsafe) {
    const escaped = `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
    expect(escapeText(`a${character}b`)).toBe(`a${escaped}b`);
  }
  const others = "Aé漢字👩‍💻 שלום\u00a0~";
  expect(escapeText(others)).toBe(others);
});

test.each([
  [undefined, ""],
  ["x", "x"],
  [5, "5"],
  [NumberValue.from("12345678901234567890"), "12345678901234567890"],
  [null, "null"],
  [{ toString: "x" }, '{"toString":"x"}'],
  [["a"], '["a"]'],
])("the text of %j is %j", (value, text) => expect(toText(value)).toBe(text));

test.each([
  ["lead_01M7ZA27P008RGE6JH5PA0WR2V", "lead_01M7ZA27P008RGE6JH5PA0WR2V"],
  ["ada+web@example.com", "ada+web@example.com"],
  ["", "''"],
  ["$(id)", "'$(id)'"],
  ["it's; id", String.raw`'it'\''s; id'`],
  ["a\nb", String.raw`'a\u000ab'`],
])("a shell reads %j as one word: %s", (text, word) => expect(shellWord(text)).toBe(word));

test("the console escapes what it prints, and JSON stays the same data", () => {
  const printed: string[] = [];
  for (const name of ["log", "error", "warn"] as const)
    vi.spyOn(console, name).mockImplementation((...values) => void printed.push(format(...values)));
  escapeConsole();
  const data = { text: unsafe.join("") };
  console.log(JSON.stringify(data));
  console.error(new Error("\u001b[2J"));
  console.warn("100 %", "\u202e");
  const [json = "", stack, warning] = printed;
  const lines = new Set(printed.join(""));
  expect(unsafe.filter((character) => lines.has(character))).toEqual(["\n"]);
  expect(JSON.parse(json)).toEqual(data);
  expect(stack).toMatch(/^Error: \\u001b\[2J\n/);
  expect(warning).toBe("100 % \\u202e");
});

test("rows are printed as aligned columns without empty columns and control characters", () => {
  const rows = [
    { account: "acme", leads: 1000, label: undefined, note: "web\u001b[31m" },
    { account: "a", leads: 7, label: "", note: undefined },
  ];
  expect(formatColumns(rows)).toBe(
    ["account  leads  note", "acme     1000   web\\u001b[31m", "a        7"].join("\n"),
  );
});
