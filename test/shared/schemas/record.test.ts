import { describe, expect, test } from "vitest";
import { eventSchemas } from "../../../shared/domain/event-schemas.ts";
import { newId } from "../../../shared/ids.ts";
import { conversation, message } from "../../../shared/schemas/conversation-schemas.ts";
import { lead } from "../../../shared/schemas/lead-schemas.ts";
import { readRecord } from "../../../shared/schemas/record.ts";

const key = { pk: "LEAD#acme", sk: "lead_1" };
const createdAt = "2026-01-01T00:00:00.000Z";
const ids = { id: newId("msg"), leadId: newId("lead"), conversationId: newId("conv") };
const common = { version: 1, account: "acme", createdAt };

/** A schema, with an item that has all of its properties. */
const records = {
  lead: [
    lead,
    {
      id: "lead_1",
      name: "Ada",
      email: "a@b.c",
      score: 1,
      status: "new",
      source: "web",
      tags: ["vip"],
      createdAt,
    },
  ],
  conversation: [
    conversation,
    { ...ids, channel: "sms", status: "active", lastMessageAt: createdAt, messageCount: 1 },
  ],
  message: [message, { ...ids, channel: "sms", message: "Hello\n", createdAt }],
  event: [
    eventSchemas["message.sent"],
    { ...ids, ...common, type: "message.sent", channel: "sms", message: "Hello" },
  ],
} as const;

describe.each(Object.entries(records))("a stored %s", (_, [schema, values]) => {
  const item: Readonly<Record<string, unknown>> = { ...values, ...key, other: {} };
  const read = (changed: object) => () => readRecord(schema, { ...item, ...changed });

  test("is read without other attributes, in the order of its schema", () => {
    const expected = Object.keys(schema.properties).map((name) => [name, item[name]]);
    expect(Object.entries(read({})())).toEqual(expected);
  });

  test.each(schema.required)("needs its %s", (field) => {
    expect(read({ [field]: undefined })).toThrow(expect.objectContaining({ ...key, field }));
  });

  test.each(Object.keys(schema.properties))("has a %s of the type that the code relies on", (field) => {
    const all = ["text", 1, 1.5, Number.NaN, true, null, ["text"], [1], { valueOf: 1 }, new Set(["x"]), 1n];
    const wrong = all.filter((value) => {
      const own = item[field];
      if (Array.isArray(own)) return !(Array.isArray(value) && typeof value[0] === "string");
      return typeof own === "number" ? !Number.isSafeInteger(value) : typeof value !== typeof own;
    });
    expect(wrong.length).toBeGreaterThan(8);
    for (const value of wrong)
      expect(read({ [field]: value }), String(typeof value)).toThrow(
        expect.objectContaining({ ...key, field }),
      );
  });

  test.each(
    Object.keys(schema.properties).filter((name) => typeof item[name] === "string"),
  )("has no %s that is longer than any", (field) => {
    expect(read({ [field]: "x".repeat(10_000) })).toThrow(expect.objectContaining({ field }));
  });
});

test("numbers and lists are within the limits of their schemas, and texts are not blank and have no control characters", () => {
  const [, values] = records.lead;
  for (const changed of [
    { score: -1 },
    { score: 101 },
    { tags: Array(51).fill("x") },
    { tags: [""] },
    { source: "a\n" },
    { name: "\u001b[2J" },
    { name: "  " },
  ])
    expect(() => readRecord(lead, { ...values, ...changed })).toThrow("is malformed");
  // A character may have two UTF-16 units.
  expect(readRecord(lead, { ...values, name: "\u{1F600}".repeat(200) }).name).toHaveLength(400);
});
