import fc from "fast-check";
import { expect, test } from "vitest";
import { scanJson } from "../../../shared/http/json-scan.ts";

const duplicateKeys = (json: string) => scanJson(json).duplicates;

test.each([
  ['{"a":1,"b":2}', []],
  ['{"a":1,"a":1}', ["a"]],
  ['{"a":1,"b":2,"a":3,"b":4,"a":5}', ["a", "b"]],
  ['{"":1,"":2}', ['""']],
  ['{"a":1,"A":2,"a ":3}', []],
  ['{ "a"\t:\r\n1 , "a" : 2 }', ["a"]],
])("%s", (json, expected) => {
  JSON.parse(json);
  expect(duplicateKeys(json)).toEqual(expected);
});

test.each([
  ['{"a":1,"\\u0061":2}', ["a"]],
  ['{"\\/":1,"/":2,"\\u002F":3,"\\u002f":4}', ["/"]],
  ['{"\\"":1,"\\u0022":2}', ['"']],
  ['{"\\\\":1,"\\\\":2}', ["\\"]],
  ['{"\\\\u0061":1,"a":2}', []],
  ['{"\\ud83d\\ude00":1,"😀":2}', ["😀"]],
  ['{"\\ud83d":1,"\\ude00":2}', []],
  ['{"é":1,"e\u0301":2}', []],
])("compares keys after unescaping: %s", (json, expected) => {
  JSON.parse(json);
  expect(duplicateKeys(json)).toEqual(expected);
});

test.each([
  ['{"a":{"a":1},"b":{"a":1}}', []],
  ['{"a":{"b":1,"c":{"d":1,"d":1}},"e":1}', ["a[c][d]"]],
  ['{"a":{"b":1,"b":2},"a":{"b":1}}', ["a[b]", "a"]],
  ['{"a":{"x":1},"a":{"y":1},"b":{"x":1,"y":1}}', ["a"]],
  ['{"tags":[{"a":1},{"a":1},{"a":1,"a":1}]}', ["tags[2][a]"]],
  ['{"tags":[[],[{},{"a":1,"a":1}],5],"a":1,"a":1}', ["tags[1][1][a]", "a"]],
  ['[{"a":1,"a":1},{"a":1}]', ["[0][a]"]],
  ['{"tags":["a","a","b"]}', []],
])("compares keys within one object: %s", (json, expected) => {
  JSON.parse(json);
  expect(duplicateKeys(json)).toEqual(expected);
});

test.each([
  ['{"a":"\\"a\\":1,\\"a\\":2","b":"{"}', []],
  ['{"a":"\\\\","a":"}"}', ["a"]],
  ['{"a":"b","b":"a"}', []],
  ['{"a":",","b":["]",","],"c":{"d":"}","d":"{"}}', ["c[d]"]],
  ['"a:b"', []],
  ["5", []],
])("ignores text inside strings: %s", (json, expected) => {
  JSON.parse(json);
  expect(duplicateKeys(json)).toEqual(expected);
});

test("treats names that JavaScript objects inherit like any other key", () => {
  expect(duplicateKeys('{"toString":1,"constructor":2,"hasOwnProperty":3}')).toEqual([]);
  expect(duplicateKeys('{"__proto__":1,"__proto__":2}')).toEqual(["__proto__"]);
});

test("shortens a long name", () => {
  const key = "k".repeat(100);
  expect(duplicateKeys(`{"${key}":1,"${key}":2}`)).toEqual([`${"k".repeat(64)}…`]);
  expect(duplicateKeys(`{"${key}":{"a":1,"a":2}}`)).toEqual([`${"k".repeat(64)}…`]);
});

/** A value as JSON, and the names of its duplicate keys, found by a plain walk. */
interface Sample {
  readonly json: string;
  duplicates(name: string): string[];
}

const { value: samples } = fc.letrec<{ value: Sample }>((tie) => {
  const scalar = fc.json({ maxDepth: 0 }).map((json): Sample => ({ json, duplicates: () => [] }));
  const array = fc.array(tie("value"), { maxLength: 4 }).map(
    (items): Sample => ({
      json: `[${items.map(({ json }) => json).join(", ")}]`,
      duplicates: (name) => items.flatMap((item, index) => item.duplicates(`${name}[${index}]`)),
    }),
  );
  const member = fc.tuple(fc.constantFrom("a", "b", "c", '"', "\\"), fc.boolean(), tie("value"));
  const object = fc.array(member, { maxLength: 5 }).map((members): Sample => {
    const written = (key: string, escaped: boolean) =>
      escaped ? `"\\u${key.charCodeAt(0).toString(16).padStart(4, "0")}"` : JSON.stringify(key);
    const join = (name: string, key: string) => (name ? `${name}[${key}]` : key);
    return {
      json: `{${members.map(([key, escaped, { json }]) => `${written(key, escaped)} :${json}`).join(",")}}`,
      duplicates: (name) =>
        [...new Set(members.map(([key]) => key).filter((key, at, keys) => keys.indexOf(key) !== at)).values()]
          .map((key) => join(name, key))
          .concat(members.flatMap(([key, , value]) => value.duplicates(join(name, key)))),
    };
  });
  return { value: fc.oneof({ maxDepth: 4 }, scalar, array, object, object) };
});

test("finds the same names as a plain walk, in random JSON", () => {
  let total = 0;
  const property = fc.property(samples, ({ json, duplicates }) => {
    JSON.parse(json);
    const names = duplicateKeys(json);
    expect(names.toSorted()).toEqual(duplicates("").toSorted());
    total += names.length;
  });
  fc.assert(property, { numRuns: 1000 });
  expect(total).toBeGreaterThan(500);
});

test.each([
  ["arrays", "[".repeat(100_000), "]".repeat(100_000)],
  ["objects", '{"a":'.repeat(50_000), "1".concat("}".repeat(50_000))],
])("deep nesting of %s does not overflow the stack", (_, left, right) => {
  expect(duplicateKeys(left + right)).toEqual([]);
});
