import { NumberValue } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";
import { InvalidItems } from "../../../../lib/ops/table/invalid-items.ts";
import { type RecordType, readStored, toItem } from "../../../../lib/ops/table/valid-records.ts";
import { accountPartition } from "../../../../shared/dynamodb/keys.ts";
import type { Item } from "../../../../shared/dynamodb/table-client.ts";
import { withFields } from "../../../support/cases/with-fields.ts";
import { useTablesOfCommands } from "../../../support/tables/memory-tables.ts";
import { fillAccount } from "../support/full-account.ts";

const memory = useTablesOfCommands();
await fillAccount("acme");
const otherUlid = "01M6ZA27P008RGE6JH5PA0WR2V";
const future = `7${"Z".repeat(25)}`;

/** The item of a type that the API and commands have stored with the most fields. */
const itemOf = (type: RecordType) =>
  [...memory.items()]
    .filter(({ pk }) => new RegExp(`^${accountPartition(type, "acme")}(?:#|$)`).test(String(pk)))
    .sort((a, b) => JSON.stringify(a).length - JSON.stringify(b).length)
    .at(-1) ?? {};

/** Fields that only a release with other rules for requests stores: the API serves them. */
const refused: [type: RecordType, fields: Item][] = [
  ["lead", { email: "ada" }],
  ["lead", { source: "Fair", byLabel: "x" }],
  ["lead", { addresses: { sms: ["+1", "1"] } }],
  ["lead", { addresses: { SMS: ["1"] } }],
  ["lead", { metadata: Object.fromEntries(["a", "b", "c"].map((n) => [n, "é".repeat(200)])) }],
  ["conversation", { channel: "WhatsApp" }],
  ["conversation", { status: "Active" }],
  ["message", { template: { name: "welcome", language: "en", parameters: Array(4).fill("x".repeat(800)) } }],
];
test.each(refused)("a %s with %j is read, and its copy has the index keys of its record", (type, fields) => {
  const item = withFields(itemOf(type), fields);
  const invalid = new InvalidItems();
  const record = readStored(type, item, invalid);
  const { byLabel, ...expected } = fields;
  expect(record).toMatchObject(expected);
  expect(toItem[type]("acme", record as never)).not.toHaveProperty("byLabel", "x");
  expect(invalid.size).toBe(0);
});

/** Fields that the API does not serve, and times that are not those of ids, with the field that is named. */
const invalid: [type: RecordType, fields: Item, field: string][] = [
  ["lead", { name: " " }, "name"],
  ["lead", { email: `${"x".repeat(250)}@example.com` }, "email"],
  ["lead", { score: NumberValue.from("9".repeat(38)) }, "score"],
  ["lead", { updatedAt: "2020" }, "updatedAt"],
  ["lead", { metadata: { plan: "\u0000" } }, "metadata"],
  ["lead", { addresses: { sms: [5] } }, "addresses"],
  ["lead", { id: `lead_${otherUlid}` }, "createdAt"],
  ["lead", { id: `lead_${future}`, sk: `lead_${future}` }, "id"],
  ["lead", { sk: `lead_${otherUlid}` }, "sk"],
  ["lead", { createdAt: "9999-12-31T00:00:00.000Z" }, "createdAt"],
  ["account", { requests: 100_000_001 }, "requests"],
  ["account", { sk: "others" }, "sk"],
  ["account", { createdAt: "now" }, "createdAt"],
  ["erasedLead", { leadId: `lead_${otherUlid}` }, "sk"],
  ["erasedLead", { id: `erasure_${future}` }, "id"],
  ["leadImport", { sk: "account#1" }, "sha256"],
  ["conversation", { leadId: `conv_${otherUlid}` }, "leadId"],
  ["conversation", { channel: "a\nb" }, "channel"],
  ["conversation", { status: "" }, "status"],
  ["conversation", { id: `conv_${otherUlid}` }, "sk"],
  ["conversation", { activeAt: "now" }, "lastMessageAt"],
  ["conversation", { lastInboundAt: "now" }, "lastInboundAt"],
  ["message", { template: { name: "welcome" } }, "template"],
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
