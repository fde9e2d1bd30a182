import { NumberValue } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";
import { InvalidItems } from "../../../../lib/ops/table/invalid-items.ts";
import {
  type RecordType,
  readStored,
  type StoredRecords,
  toItem,
} from "../../../../lib/ops/table/valid-records.ts";
import type { Item } from "../../../../shared/dynamodb/table-client.ts";
import { createdAt } from "../../../../shared/ids.ts";
import { startedConversation } from "../../../support/stored.ts";
import { withFields } from "../../../support/with-fields.ts";

const ulid = "01M7ZA27P008RGE6JH5PA0WR2V";
const otherUlid = ulid.replace("M7", "M6");
const future = `7${"Z".repeat(25)}`;
const [leadId, conversationId] = [`lead_${ulid}`, `conv_${ulid}`];
const text = {
  ...{ conversationId, leadId, channel: "whatsapp", message: "Hello", metadata: { plan: "pro" } },
  template: { name: "welcome", language: "en_US", parameters: ["Ada"] },
};

/** A record of each type. */
const records: StoredRecords = {
  limit: { requests: 5 },
  erasedLead: { leadId, id: `erasure_${ulid}` },
  leadImport: {
    ...{ sha256: "0".repeat(64), leadId, importId: `import_${ulid}` },
    storedAt: "2026-01-01T00:00:00.000Z",
  },
  lead: {
    ...{
      id: leadId,
      name: "Ada",
      email: "ada@example.com",
      score: 0,
      status: "new",
      source: "fair",
      tags: [],
    },
    ...{ externalId: "crm-ada", addresses: { sms: ["+1", "a@b"] }, metadata: { plan: "pro" } },
    ...{ createdAt: createdAt(leadId), updatedAt: createdAt(leadId) },
  },
  conversation: {
    ...startedConversation(conversationId, { leadId }),
    ...{ lastInboundAt: createdAt(conversationId), awaitingReplySince: createdAt(conversationId) },
  },
  message: {
    ...{ id: `msg_${ulid}`, ...text, direction: "outbound", createdAt: createdAt(`msg_${ulid}`) },
    ...{ delivery: "failed", deliveryError: "131047", providerId: "wamid.1" },
  },
};

const itemOf = <Type extends RecordType>(type: Type) => toItem[type]("acme", records[type]);

test.each(Object.keys(records) as RecordType[])("the item of a %s is read as its record", (type) => {
  const invalid = new InvalidItems();
  expect(readStored(type, itemOf(type), invalid)).toEqual(records[type]);
  expect(invalid.size).toBe(0);
});

/** Fields that the API would not have stored, one for each rule that no schema has and some of those, and the one that is named. */
const invalid: [type: RecordType, fields: Item, field: string][] = [
  ["lead", { name: " " }, "name"],
  ["lead", { email: `${"x".repeat(250)}@example.com` }, "email"],
  ["lead", { source: "Fair" }, "source"],
  ["lead", { score: NumberValue.from("9".repeat(38)) }, "score"],
  ["lead", { addresses: { sms: ["+1", "1"] } }, "addresses"],
  ["lead", { addresses: { SMS: ["1"] } }, "addresses"],
  ["lead", { updatedAt: "2020" }, "updatedAt"],
  ["lead", { metadata: Object.fromEntries(["a", "b", "c"].map((n) => [n, "é".repeat(200)])) }, "metadata"],
  ["lead", { id: `lead_${otherUlid}` }, "createdAt"],
  ["lead", { id: `lead_${future}`, sk: `lead_${future}` }, "id"],
  ["lead", { sk: `lead_${otherUlid}` }, "sk"],
  ["lead", { createdAt: "9999-12-31T00:00:00.000Z" }, "createdAt"],
  ["limit", { requests: 100_000_001 }, "requests"],
  ["limit", { sk: "others" }, "sk"],
  ["erasedLead", { leadId: `lead_${otherUlid}` }, "sk"],
  ["erasedLead", { id: `erasure_${future}` }, "id"],
  ["leadImport", { sk: "account#1" }, "sha256"],
  ["conversation", { leadId: `conv_${otherUlid}` }, "leadId"],
  ["conversation", { channel: "WhatsApp" }, "channel"],
  ["conversation", { status: "Active" }, "status"],
  ["conversation", { id: `conv_${otherUlid}` }, "sk"],
  ["conversation", { activeAt: "now" }, "lastMessageAt"],
  ["conversation", { lastInboundAt: "now" }, "lastInboundAt"],
  ["message", { template: { name: "welcome" } }, "template"],
  ["message", { template: { ...text.template, parameters: Array(4).fill("x".repeat(800)) } }, "template"],
  ["message", { conversationId: `conv_${otherUlid}` }, "pk"],
  ["message", { createdAt: "2026-01-01T00:00:00.000Z" }, "createdAt"],
];
test.each(invalid)("a %s with %j is not valid: its %s is named", (type, fields, field) => {
  const item = withFields(itemOf(type), fields);
  const invalid = new InvalidItems();
  expect(readStored(type, item, invalid)).toBeUndefined();
  const { pk, sk } = item;
  expect([...invalid.values()]).toEqual([{ type, pk, sk, reason: `its ${field} is invalid` }]);
});
