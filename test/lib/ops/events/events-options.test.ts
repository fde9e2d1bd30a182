import { InvalidArgumentError } from "commander";
import { expect, test } from "vitest";
import { type BusOptions, findBus } from "../../../../lib/ops/events/event-bus.ts";
import { parseTime, parseTypes } from "../../../../lib/ops/events/events-command.ts";

const time = Date.UTC(2026, 0, 31, 9, 30, 0, 250);

test.each([
  ["2026-01-31T09:30:00.250Z", time],
  ["2026-01-31T10:30:00.250+01:00", time],
  ["2026-01-31T09:30:00Z", time - 250],
  ["1769851800", time - 250],
  ["1769851800.250", time],
  ["1769851800250", time],
])("the time %s is read", (text, expected) => {
  expect(parseTime(text)).toBe(expected);
});

test.each([
  "",
  "yesterday",
  "2026-01-31",
  "2026-02-30T00:00:00Z",
  "2026",
  "-1769851800",
  "1969-12-31T23:59:59Z",
  "1769851800Z",
  "1e9",
])("the time %j is refused", (text) => {
  expect(() => parseTime(text)).toThrow(InvalidArgumentError);
});

test("types are read in the order in which events are read, each of them once", () => {
  expect(parseTypes("message.sent,lead.created")).toEqual(["lead.created", "message.sent"]);
});

test.each([
  "",
  "lead",
  "lead.created,",
  "lead.created,leads",
  "lead.created, message.sent",
])("the types %j are refused", (text) => {
  expect(() => parseTypes(text)).toThrow("The types are lead.created, conversation.started, message.sent");
});

test.each([
  [{ stage: "prod" }, "leads-and-conversations-prod"],
  [{ stage: "prod", bus: "other" }, "other"],
  [{ table: "restored", bus: "other" }, "other"],
] satisfies [BusOptions, string][])("with %j, the bus is %s", async (options, name) => {
  expect(findBus(options)).toBe(name);
});
