import { expect, test } from "vitest";
import { UserError } from "../../../../lib/errors.ts";
import { readFilters } from "../../../../lib/local/template/event-filter.ts";

const record = (pk: string, eventName = "INSERT") => ({
  eventName,
  dynamodb: { Keys: { pk: { S: pk }, sk: { S: "x" } } },
});
const byKey = (...values: unknown[]) => JSON.stringify({ dynamodb: { Keys: { pk: { S: values } } } });

test.each([
  [[], "COUNT#a", true],
  [[byKey({ prefix: "LEAD#" })], "LEAD#a", true],
  [[byKey({ prefix: "LEAD#" })], "LEADS#a", false],
  [[byKey({ prefix: "LEAD#" }, { prefix: "CONVERSATION#" })], "CONVERSATION#a", true],
  [[byKey({ prefix: "LEAD#" }, { prefix: "CONVERSATION#" })], "COUNT#a#LEAD", false],
  [[byKey("LEAD#a")], "LEAD#a", true],
  [[byKey("LEAD#a")], "LEAD#ab", false],
  [[byKey("LEAD#a"), byKey("LEAD#b")], "LEAD#b", true],
  [[JSON.stringify({ eventName: ["REMOVE"] })], "LEAD#a", false],
  [[JSON.stringify({ eventName: ["INSERT"], dynamodb: { Keys: { pk: { N: ["1"] } } } })], "LEAD#a", false],
  [[JSON.stringify({ nothing: { there: ["x"] } })], "LEAD#a", false],
])("%j on %s: %s", (patterns, pk, passes) => {
  expect(readFilters(patterns)(record(pk))).toBe(passes);
});

test.each([
  [byKey({ "anything-but": "LEAD#a" }), '{"anything-but":"LEAD#a"} at pattern.dynamodb.Keys.pk.S'],
  [byKey({ prefix: { "equals-ignore-case": "x" } }), "cannot evaluate"],
  [byKey({ prefix: "x", suffix: "y" }), "cannot evaluate"],
  [byKey(7), "cannot evaluate 7"],
  [byKey(null), "cannot evaluate null"],
  [JSON.stringify({ eventName: "INSERT" }), 'cannot evaluate "INSERT" at pattern.eventName'],
])("%s is rejected with a UserError", (pattern, message) => {
  expect(() => readFilters([pattern])).toThrow(UserError);
  expect(() => readFilters([pattern])).toThrow(message);
});
