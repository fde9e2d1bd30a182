import { readFile } from "node:fs/promises";
import fc from "fast-check";
import type { Result } from "./report.ts";
import { type Outcome, runProgram } from "./tools.ts";

/** Another language's regular expressions, and the texts for which they are known to differ. */
interface Language {
  readonly name: string;
  readonly command: readonly [program: string, ...args: string[]];
  readonly except: (text: string) => boolean;
}

/** `$` also matches before a line break that ends the text. */
const endsWithLineBreak = (text: string) => /[\n\r\x85\u2028\u2029]$/.test(text);

/** `\s` is ASCII, and these two spaces cannot be listed (`lib/openapi/portable-patterns.ts`). */
const isBlankWithSeparator = (text: string) => /^\s*[\u2028\u2029]\s*$/.test(text);

const languages: readonly Language[] = [
  { name: "Go (RE2)", command: [process.execPath, "patterns/match-re2.mjs"], except: isBlankWithSeparator },
  { name: "Python", command: ["python3", "patterns/match.py"], except: endsWithLineBreak },
  {
    name: "Java",
    command: ["java", "patterns/Match.java"],
    except: (text) => endsWithLineBreak(text) || isBlankWithSeparator(text),
  },
];

/** Compares what the document's patterns match in JavaScript, with and without the `u` flag, and in other languages. */
export async function comparePatterns(file: string): Promise<Result[]> {
  const patterns = findPatterns(JSON.parse(await readFile(file, "utf8")));
  const texts = sampleTexts();
  const expected = matchAll(patterns, texts, "u");
  const results = [compare("JavaScript without u", expected, matchAll(patterns, texts, ""), texts)];
  const input = `${patterns.map(encode).join("\n")}\n\n${texts.map(encode).join("\n")}`;
  for (const { name, command, except } of languages) {
    const [program, ...args] = command;
    const matched = await runProgram(program, args, { input });
    results.push(compare(name, expected, matched, texts, except));
  }
  return results;
}

function findPatterns(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const { pattern } = value as { pattern?: unknown };
  const found = Object.values(value).flatMap(findPatterns);
  return [...new Set([...(typeof pattern === "string" ? [pattern] : []), ...found])];
}

/** Every character of the basic plane, alone and in a text, and random texts. */
function sampleTexts(): string[] {
  const characters = Array.from({ length: 0x10000 }, (_, code) => String.fromCodePoint(code));
  const valid = characters.filter((character) => character.isWellFormed());
  const random = fc.sample(fc.string({ unit: "binary", minLength: 1, maxLength: 20 }), 5000);
  return [...valid.flatMap((character) => [character, `a${character}`, `${character} \u{1F600}`]), ...random];
}

function matchAll(patterns: readonly string[], texts: readonly string[], flags: string): Outcome {
  try {
    const rows = patterns.map((pattern) => {
      const compiled = new RegExp(pattern, flags);
      return texts.map((text) => (compiled.test(text) ? "1" : "0")).join("");
    });
    return { ok: true, output: rows.join("\n"), errors: "" };
  } catch (error) {
    return { ok: false, output: "", errors: (error as Error).message };
  }
}

const encode = (text: string) => Array.from(text, (character) => character.codePointAt(0)).join(" ");

function compare(
  tool: string,
  expected: Outcome,
  matched: Outcome,
  texts: readonly string[],
  except: (text: string) => boolean = () => false,
): Result {
  if (/^spawn \S+ ENOENT$/.test(matched.errors))
    return { ok: true, row: { tool, differences: "not installed" }, errors: [] };
  if (!matched.ok) return { ok: false, row: { tool, differences: "an error" }, errors: [matched.errors] };
  const expectedRows = expected.output.split("\n");
  const compared = texts.map((text, index) => ({ text, index })).filter(({ text }) => !except(text));
  const errors = matched.output
    .trimEnd()
    .split("\n")
    .flatMap((row, line) =>
      compared
        .filter(({ index }) => row[index] !== expectedRows[line]?.[index])
        .map(({ text }) => `pattern ${line + 1}, text ${JSON.stringify(text)}`),
    );
  return {
    ok: errors.length === 0,
    row: { tool, texts: String(compared.length), differences: String(errors.length) },
    errors,
  };
}
