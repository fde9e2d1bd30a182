import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { openApiDocument } from "../../../lib/openapi/document.ts";
import { withPortablePattern } from "../../../lib/openapi/portable-patterns.ts";
import {
  externalId,
  label,
  messageText,
  metadata,
  name,
  tag,
} from "../../../shared/schemas/field-schemas.ts";
import { requestOptions } from "../../../shared/schemas/validator.ts";

const patterns = [
  ...new Set(
    Array.from(
      JSON.stringify(openApiDocument()).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g),
      ([, json = ""]) => String(JSON.parse(json)),
    ),
  ),
];

/** Validators of the schema in the document: with regular expressions that have the `u` flag, and that do not. */
const documented = (schema: object) =>
  [true, false].map((unicodeRegExp) => new Ajv2020({ unicodeRegExp }).compile(withPortablePattern(schema)));

const schemas = { tag, label, name, messageText, metadata: metadata.additionalProperties, externalId };

describe.each(Object.entries(schemas))("the pattern of a %s", (_, schema) => {
  const validate = new Ajv2020(requestOptions).compile(schema);
  const others = documented(schema);

  test("accepts each character that the service accepts, alone and in a text, and no other of ASCII", () => {
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

  test("does not know unpaired surrogates, which only the validator refuses", () => {
    for (const value of ["a\ud800", "\udc00a", "a\udc00\ud800"]) {
      expect(validate(value)).toBe(false);
      expect(others.map((other) => other(value))).toEqual([true, true]);
    }
  });
});

test("no pattern of the document uses what only some languages know, or what ends a literal", () => {
  expect(patterns.length).toBeGreaterThan(10);
  for (const pattern of patterns) {
    expect(pattern).toMatch(/^\^[ !#-~]*\$$/);
    expect(pattern).not.toMatch(/\\[a-wyzA-Z0-9]|\\x[89A-F]|\(\?[^:]/);
    // In a class, Java reads a bracket as another class, and Python warns of it.
    expect(pattern.replaceAll(/\\./g, "")).not.toMatch(/\[[^\]]*\[/);
  }
});

/** None has a line break, at which `^` and `$` match in Ruby. */
const texts = [
  ...["", " ", "a", " a b ", "a\tb", "a\u0001b", "\u007f", "\u00c0da", "\u5c71\u7530", "\u{1F600}"],
  ...["k,1", '"k,1"', '"k\\"1"', '"k\\1"', '"k\u00e9"', "msg_01M7XX83BDX5NTVPPGQKPC08SS"],
  ...['"account";q=6000;w=60', '"account";r=0;t=1', '</api/v1/leads?page=1>; rel="first"'],
];

/** Programs that print which patterns match which texts, in the literals that generated clients have. */
const languages: Readonly<
  Record<string, (literals: (form: (pattern: string) => string) => string) => string[]>
> = {
  node: (all) => [
    "-e",
    `const t = JSON.parse(require("fs").readFileSync(0));
     console.log(JSON.stringify([${all(slashed)}].map((p) => t.map((x) => p.test(x)))))`,
  ],
  ruby: (all) => [
    ...["-rjson", "-e"],
    `t = JSON.parse(STDIN.read); puts JSON.generate([${all(slashed)}].map { |p| t.map { |x| p.match?(x) } })`,
  ],
  php: (all) => [
    "-r",
    `$t = json_decode(stream_get_contents(STDIN));
     $each = fn($p) => array_map(fn($x) => preg_match($p, $x) === 1, $t);
     echo json_encode(array_map($each, [${all((pattern) => JSON.stringify(slashed(pattern)))}]));`,
  ],
  python3: (all) => [
    ...["-W", "error", "-c"],
    `import json, re, sys
t = json.load(sys.stdin)
print(json.dumps([[bool(re.match(p, x)) for x in t] for p in [${all((pattern) => `r"${pattern}"`)}]]))`,
  ],
  go: (all) => {
    const file = join(mkdtempSync(join(tmpdir(), "patterns-")), "main.go");
    const source = `package main
import ("encoding/json"; "os"; "regexp")
func main() {
  var t []string
  json.NewDecoder(os.Stdin).Decode(&t)
  all := [][]bool{}
  for _, p := range []string{${all((pattern) => `\`${pattern}\``)}} {
    row := []bool{}
    for _, x := range t { row = append(row, regexp.MustCompile(p).MatchString(x)) }
    all = append(all, row)
  }
  json.NewEncoder(os.Stdout).Encode(all)
}`;
    writeFileSync(file, source);
    return ["run", file];
  },
};

const slashed = (pattern: string) => `/${pattern.replaceAll("/", "\\/")}/`;

for (const [command, program] of Object.entries(languages)) {
  const isHere = spawnSync(command, [command === "go" ? "version" : "--version"]).status === 0;
  test.skipIf(!isHere)(`${command} reads each pattern, and finds the same texts as others`, () => {
    const args = program((form) => patterns.map(form).join(", "));
    // In ASCII, whatever the locale.
    const input = JSON.stringify(texts).replaceAll(
      /[^ -~]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
    const { stdout, stderr } = spawnSync(command, args, { input, encoding: "utf8" });
    expect(stderr).toBe("");
    const expected = patterns.map((pattern) => texts.map((text) => new RegExp(pattern).test(text)));
    expect(JSON.parse(stdout)).toEqual(expected);
  });
}
