import { marshall } from "@aws-sdk/util-dynamodb";
import type { DynamoDBRecord } from "aws-lambda";
import { decodeTime, ulid } from "ulid";
import { describe, expect, test } from "vitest";
import { conversationItem } from "../../../shared/domain/conversations.ts";
import { toEvents } from "../../../shared/domain/events.ts";
import { leadKey, messageKey } from "../../../shared/dynamodb/keys.ts";
import { createdAt } from "../../../shared/ids.ts";
import { faultsOf } from "../../support/event-validators.ts";

const account = "acme & söhne #1";
const [leadId, conversationId, messageId] = ["lead", "conv", "msg"].map(
  (prefix) => `${prefix}_${ulid()}`,
) as [string, string, string];

/** The stream's record of a new item; AWS says in whole seconds when it was written. */
function toRecord(item: { pk: string; sk: string }, writtenAfter = 0): DynamoDBRecord {
  const { pk, sk } = item;
  const madeAt = /_[0-7]\w{25}$/.test(sk) ? decodeTime(sk.slice(-26)) : 0;
  return {
    eventName: "INSERT",
    dynamodb: {
      ApproximateCreationDateTime: Math.floor((madeAt + writtenAfter) / 1000),
      Keys: { pk: { S: pk }, sk: { S: sk } },
      NewImage: marshall(item) as NonNullable<DynamoDBRecord["dynamodb"]>["NewImage"],
    },
  };
}

const lead = {
  ...leadKey(account, leadId),
  byStatus: "LEAD#acme#new",
  ...{ id: leadId, name: "Ada Lovelace", email: "ada@example.com", score: 0, status: "new" },
  ...{ source: "instagram", tags: ["vip"], createdAt: createdAt(leadId) },
};
const conversation = conversationItem(account, {
  ...{ id: conversationId, leadId, channel: "whatsapp", status: "active" },
  ...{ lastMessageAt: createdAt(messageId), messageCount: 1 },
});
const message = {
  ...messageKey(account, conversationId, messageId),
  ...{ id: messageId, conversationId, leadId, channel: "whatsapp", message: 'Hello\n"Ada" 👋' },
  createdAt: createdAt(messageId),
};

describe("a new item is told of with what a connector needs, and nothing else", () => {
  test.each([
    [
      "lead",
      lead,
      {
        ...{ type: "lead.created", version: 1, id: leadId, account, email: "ada@example.com" },
        ...{ source: "instagram", createdAt: createdAt(leadId) },
      },
    ],
    [
      "lead without email and source",
      { ...leadKey(account, leadId), id: leadId, name: "Ada", score: 0, status: "new", tags: [] },
      { type: "lead.created", version: 1, id: leadId, account, createdAt: createdAt(leadId) },
    ],
    [
      "conversation",
      conversation,
      {
        ...{ type: "conversation.started", version: 1, id: conversationId, account, leadId },
        ...{ channel: "whatsapp", createdAt: createdAt(conversationId) },
      },
    ],
    [
      "message",
      message,
      {
        ...{ type: "message.sent", version: 1, id: messageId, account, leadId, conversationId },
        ...{ channel: "whatsapp", message: message.message, createdAt: createdAt(messageId) },
      },
    ],
  ])("%s", (_, item, expected) => {
    const events = toEvents([toRecord(item)]);
    expect(events).toEqual([expected]);
    expect(events.flatMap(faultsOf)).toEqual([]);
  });
});

test.each([
  "👋",
  "\n",
  '"',
])("Ten of the largest messages fit into one call to the bus: of %j", (character) => {
  const text = character.repeat(4096);
  const largest = { ...message, message: text, channel: "👋".repeat(64), leadId: "👋".repeat(64) };
  const events = toEvents(Array.from({ length: 10 }, () => toRecord(largest)));
  expect(events).toHaveLength(10);
  expect(Buffer.byteLength(JSON.stringify(events))).toBeLessThan(256 * 1024);
});

describe("no event comes of", () => {
  test.each([
    ["a count", { pk: "COUNT#acme#LEAD", sk: "root" }],
    ["an idempotency record", { pk: "IDEMPOTENCY#acme#key", sk: "send-message" }],
    ["the pointer to the active conversation", { pk: "ACTIVE#acme#lead", sk: "whatsapp" }],
    ["an item without an account", { pk: "LEAD", sk: leadId }],
    ["an item whose account cannot be read", { pk: "LEAD#%", sk: leadId }],
    ["an item under another type's id", { ...lead, sk: messageId }],
    ["an item whose id is none of ours", { ...lead, sk: "lead_1" }],
    ["an item whose id begins as one of ours", { ...lead, sk: `${leadId}x` }],
    ["an item whose id has a time that no ULID has", { ...lead, sk: `lead_8${"Z".repeat(25)}` }],
    ["a lead that was imported", { ...lead, imported: true }],
  ])("%s", (_, item) => {
    expect(toEvents([toRecord(item)])).toEqual([]);
  });

  test("an item that changed, or went", () => {
    const { dynamodb } = toRecord(message);
    expect(
      toEvents([
        { eventName: "MODIFY", dynamodb },
        { eventName: "REMOVE", dynamodb },
      ]),
    ).toEqual([]);
  });
});

test("What is written long after its id was made was restored, and a message is not sent again for that", () => {
  expect(toEvents([toRecord(message, 59_000)])).toHaveLength(1);
  expect(toEvents([toRecord(message, 62_000)])).toEqual([]);
  expect(toEvents([toRecord(lead, 24 * 3_600_000)])).toEqual([]);
  // A writer's clock may be ahead of the table's.
  expect(toEvents([toRecord(message, -2000)])).toHaveLength(1);
});

test("One item that is no news does not keep others back", () => {
  const records = [
    toRecord(message, 120_000),
    toRecord(lead),
    toRecord({ pk: "x", sk: "y" }),
    toRecord(message),
  ];
  expect(toEvents(records).map(({ type }) => type)).toEqual(["lead.created", "message.sent"]);
});
