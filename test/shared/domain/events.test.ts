import type { DynamoDBRecord } from "aws-lambda";
import { decodeTime, ulid } from "ulid";
import { describe, expect, test, vi } from "vitest";
import { conversationItem } from "../../../shared/domain/conversations/conversations.ts";
import { toEvents } from "../../../shared/domain/events.ts";
import { erasedLeadKey, leadKey, messageKey } from "../../../shared/dynamodb/keys.ts";
import { createdAt, newId } from "../../../shared/ids.ts";
import { compareDetail } from "../../support/requests/document.ts";
import { longestTemplate } from "../../support/requests/longest-body.ts";
import { startedConversation, storedLead } from "../../support/tables/stored.ts";
import { streamRecord } from "../../support/tables/stream-record.ts";

const longestMetadata = { x: "x".repeat(1016) };

// In upper and lower case: connectors find an account by its name as it was written.
const account = "Acme & söhne #1";
const [leadId, conversationId, messageId] = ["lead", "conv", "msg"].map(
  (prefix) => `${prefix}_${ulid()}`,
) as [string, string, string];

/** The stream record of a new item. */
function toRecord(item: { pk: string; sk: string; id?: string }, writtenAfter = 0): DynamoDBRecord {
  const { id = item.sk } = item;
  const createdTime = /_[0-7]\w{25}$/.test(id) ? decodeTime(id.slice(-26)) : 0;
  return streamRecord(undefined, item, createdTime + writtenAfter);
}

const aLead = (more: object = {}) => storedLead(leadId, account, { tags: ["vip"], ...more });
const reached = { email: "ada@example.com", source: "instagram" };
const lead = aLead(reached);
const startedBy = startedConversation(conversationId, { leadId, lastMessageAt: createdAt(messageId) });
const conversation = conversationItem(account, startedBy);
const sent = {
  ...{ conversationId, leadId, channel: "whatsapp", direction: "outbound", message: 'Hello\n"Ada" 👋' },
  template: { name: "welcome", language: "en_US", parameters: ["Ada"] },
};
const message = {
  ...{ ...messageKey(account, conversationId, messageId), id: messageId, ...sent },
  createdAt: createdAt(messageId),
};

const leadIn9000 = newId("lead", Date.UTC(9000, 0, 1));
const erasureId = `erasure_${ulid()}`;
const erasedLead = { ...erasedLeadKey(account, "lead_1"), id: erasureId, leadId: "lead_1", pending: true };

describe("a new item becomes an event with the fields that a connector needs, and no others", () => {
  test.each<[string, Parameters<typeof toRecord>[0], string, string, object]>([
    ["lead", lead, "lead.created", leadId, reached],
    ["lead without email and source", aLead(), "lead.created", leadId, {}],
    ["conversation", conversation, "conversation.started", conversationId, { leadId, channel: "whatsapp" }],
    ["message", message, "message.sent", messageId, sent],
    ["erased lead", erasedLead, "lead.erased", erasureId, { leadId: "lead_1" }],
  ])("%s", (_, item, type, id, fields) => {
    const events = toEvents([toRecord(item)]);
    expect(events).toEqual([{ type, version: 1, id, account, createdAt: createdAt(id), ...fields }]);
    expect(events.flatMap(compareDetail)).toEqual([]);
  });
});

const longInJson = ["👋", "\n", '"'];
test.each(
  longInJson,
)("ten of the largest messages, full of %j, fit into one call of the event bus", (character) => {
  const text = `x${character.repeat(4095)}`;
  const [channel, to] = ["👋".repeat(64), "👋".repeat(160)];
  const others = { metadata: longestMetadata, template: longestTemplate };
  const largest = { ...message, message: text, channel, leadId: channel, to, ...others };
  const events = toEvents(Array.from({ length: 10 }, () => toRecord(largest)));
  expect(events).toHaveLength(10);
  expect(Buffer.byteLength(JSON.stringify(events))).toBeLessThan(256 * 1024);
});

describe("no event is sent for", () => {
  test.each([
    ["a count", { pk: "COUNT#acme#LEAD", sk: "root" }],
    ["an idempotency record", { pk: "IDEMPOTENCY#acme#key", sk: "send-message" }],
    ["the lock to the active conversation", { pk: "ACTIVE#acme#lead", sk: "whatsapp" }],
    ["an item without an account", { pk: "LEAD", sk: leadId }],
    ["an item whose account cannot be decoded", { pk: "LEAD#%", sk: leadId }],
    ["an item under another type's id", { ...lead, sk: messageId }],
    ["an item whose id has another format", { ...lead, sk: "lead_1" }],
    ["an item whose id has text after the ULID", { ...lead, sk: `${leadId}x` }],
    ["an item whose id has a time out of range", { ...lead, sk: `lead_8${"Z".repeat(25)}` }],
    ["a lead of the year 9000", { ...lead, sk: leadIn9000, id: leadIn9000 }],
    ["a message that was imported", { ...message, imported: true }],
    ["an erased lead that was imported", { ...erasedLead, imported: true }],
    ["an erased lead without the id of its erasure", { ...erasedLeadKey(account, leadId), leadId }],
  ])("%s", (_, item) => {
    expect(toEvents([toRecord(item)])).toEqual([]);
  });
});

/** The stream record of an item that a command changed. */
const toChange = (item: object, changeId: string, before?: string) =>
  streamRecord(
    { ...item, ...(before !== undefined && { changeId: before }) },
    { ...item, changeId, changed: ["status"] },
  );

const changeId = `change_${ulid()}`;
const change = { version: 1, id: changeId, account, leadId, createdAt: createdAt(changeId) };

test("a change by a command becomes an event with the whole record, once", () => {
  const events = toEvents([
    toChange(lead, changeId, `change_${ulid()}`),
    toChange(conversation, changeId),
    // Later changes that are not by a command keep the id.
    toChange(lead, changeId, changeId),
  ]);
  const { pk, sk, byStatus, byLabel, byStatusAndLabel, byParent, activeAt, details, ...fields } = lead;
  const record = { ...fields, ...details };
  const { channel } = startedBy;
  expect(events).toEqual([
    { type: "lead.updated", ...change, changed: ["status"], lead: record },
    {
      ...{ type: "conversation.updated", ...change, conversationId, channel, changed: ["status"] },
      conversation: startedBy,
    },
  ]);
  expect(events.flatMap(compareDetail)).toEqual([]);
});

test("a change whose id or record is invalid has no event, and is logged", () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  // An environment logs one item of each partition, and has already logged one of the account's leads.
  const ofAnother = { ...lead, ...leadKey("another", leadId) };
  const others = [ofAnother, conversation].map((item) => ({ ...item, sk: item.id }));
  const changes = [toChange(ofAnother, "change_1"), toChange({ ...conversation, status: "" }, changeId)];
  expect(toEvents(changes)).toEqual([]);
  expect(log.mock.calls.map(([line]) => line)).toMatchObject(
    others.map(({ pk, sk }, n) => ({ event: "invalid item", pk, sk, field: ["changeId", "status"][n] })),
  );
});

test("ten of the largest changed leads fit into one call of the event bus", () => {
  const characters = (length: number) => "👋".repeat(length);
  const tags = Array.from({ length: 50 }, () => characters(64));
  const addresses = Object.fromEntries(
    tags.slice(0, 10).map((channel, n) => [channel.replace("👋", `${n}`), [characters(160)]]),
  );
  const details = {
    ...{ ...lead.details, name: characters(200), tags, metadata: longestMetadata },
    ...{ email: `${"a".repeat(64)}@${"b.".repeat(93)}com`, externalId: characters(160) },
  };
  const largest = { ...lead, source: characters(64), addresses, details };
  const events = toEvents(Array.from({ length: 10 }, () => toChange(largest, changeId)));
  expect(events).toHaveLength(10);
  expect(Buffer.byteLength(JSON.stringify(events))).toBeLessThan(256 * 1024);
});

test("an imported lead has an event however old it is, and the event names the import", () => {
  const importId = newId("import");
  const [event] = toEvents([toRecord({ ...lead, imported: importId } as typeof lead, 24 * 3_600_000)]);
  expect(event).toMatchObject({ type: "lead.created", id: leadId, imported: true, importId });
});

test("an item that is written long after its id was created, as by a restore, has no event", () => {
  expect(toEvents([toRecord(message, 59_000)])).toHaveLength(1);
  expect(toEvents([toRecord(message, 62_000)])).toEqual([]);
  expect(toEvents([toRecord(lead, 24 * 3_600_000)])).toEqual([]);
  expect(toEvents([toRecord(erasedLead, 59_000)])).toHaveLength(1);
  expect(toEvents([toRecord(erasedLead, 62_000)])).toEqual([]);
  // A writer's clock may be ahead of the table's.
  expect(toEvents([toRecord(message, -60_000)])).toHaveLength(1);
});
