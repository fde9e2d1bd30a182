import validate from "validate:create-lead";
import { expect, test } from "vitest";
import { maxFaults } from "../../../shared/http/faults.ts";

const ones = (count: number) => Array<number>(count).fill(1);

test.each([
  ["items", { query: {}, body: { name: "Ada", tags: ones(30_000) } }],
  ["fields", { query: {}, body: { name: "Ada", ...ones(30_000) } }],
  ["parameters", { query: { ...ones(30_000) }, body: { name: "Ada" } }],
])("a validator stops at as many invalid %s as a response lists", (_, request) => {
  expect(validate(request)).toBe(false);
  expect(validate.errors).toHaveLength(maxFaults);
});

test("a validator reports every error of a request that has fewer", () => {
  expect(validate({ query: { page: "1" }, body: { tags: ["", 1], x: 1 } })).toBe(false);
  expect(validate.errors?.map(({ instancePath, keyword }) => `${instancePath} ${keyword}`)).toEqual([
    "/query additionalProperties",
    "/body required",
    "/body additionalProperties",
    "/body/tags/0 minLength",
    "/body/tags/1 type",
  ]);
  expect(validate({ query: {}, body: { name: "Ada" } })).toBe(true);
});
