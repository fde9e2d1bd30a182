import { expect, test } from "vitest";
import { maxDepth, maxValues, scanJson } from "../../../shared/http/json-scan.ts";

const nested = (depth: number) => `${'{"a":['.repeat(depth / 2)}${"]}".repeat(depth / 2)}`;
const array = (values: number) => `[${Array(values).fill('"a"').join(" , ")}]`;
const object = (values: number) => `{${Array(values).fill('"a":1').join()}}`;

test.each([
  ["the most levels", nested(maxDepth), undefined],
  ["two levels more", nested(maxDepth + 2), "too_deep"],
  ["many levels", nested(60_000), "too_deep"],
  ["levels one after the other", `[${Array(400).fill("[]").join()}]`, undefined],
  ["the most items", array(maxValues - 1), undefined],
  ["one item more", array(maxValues), "too_many"],
  ["the most members", object(maxValues - 1), undefined],
  ["one member more", object(maxValues), "too_many"],
  ["empty arrays", `[${Array(maxValues).fill("[]").join()}]`, "too_many"],
  ["marks in strings", `["${"[{,".repeat(maxValues)}","\\"${",[".repeat(maxValues)}"]`, undefined],
  ["a number", "5", undefined],
])("%s", (_, json, expected) => {
  JSON.parse(json);
  expect(scanJson(json).exceeded).toBe(expected);
});
