import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { brokenRules, toMutation } from "./broken-rules.ts";
import { applyMutation, findMutations } from "./mutations.ts";

const mutate = (source: string) => findMutations(source).map((mutation) => applyMutation(source, mutation));

test.each([
  ["a < b", ["a <= b"]],
  ["(a) - (b)", ["(a) + (b)"]],
  ["a && b", ["(a || b)"]],
  ["a ?? b", ["a"]],
  ["!a", ["a"]],
  ["a ? b : c", ["(b)", "(c)"]],
  ["3", ["4"]],
  ["5_000", ["10000", "2500"]],
  ["true", ["false"]],
  ["/^a$/i", ["/a$/i", "/^a/i", "/^a$/"]],
  ["Math.max(a)", ["Math.min(a)"]],
  ["a.filter(b)", ["a"]],
  ["a.toString()", []],
  ["`a`", ["``"]],
  ["[a]", ["[]"]],
  ["{ a, ...b }", ["{ ...{}, ...b }", "{ a, ...{} }"]],
])("the mutants of the expression %s", (expression, expected) => {
  expect(mutate(`const x = ${expression};`)).toEqual(expected.map((mutant) => `const x = ${mutant};`));
});

test.each([
  ["if (a) b;", ["if (true) b;", "if (false) b;", "if (a) ;"]],
  ["throw a;", [";"]],
  ["a += b;", [";", "a -= b;"]],
])("the mutants of the statement %s", (statement, expected) => {
  expect(mutate(statement)).toEqual(expected);
});

test.each([
  'import a from "a";',
  'type A = "a" | 1;',
  "const a: B<3> = b as C<4>;",
  'const a = new TypeError("a");',
])("%s has none", (source) => {
  expect(mutate(source)).toEqual([]);
});

test.each(brokenRules)("the rule can be broken: $rule", (rule) => {
  const source = readFileSync(join(import.meta.dirname, "../..", rule.file), "utf8");
  const broken = applyMutation(source, toMutation(source, rule));
  for (const [, to] of rule.changes) expect(broken).toContain(to);
});
