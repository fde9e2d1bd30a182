import { randomUUID } from "node:crypto";
import { DeleteCommand, NumberValue } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";
import { setConversationStatus } from "../../../../lib/ops/changes/conversation-status.ts";
import { addMissingKeys, findMissingKeys } from "../../../../lib/ops/changes/index-keys.ts";
import { setLeadStatus } from "../../../../lib/ops/changes/lead-changes.ts";
import { Pace } from "../../../../lib/ops/pace.ts";
import { conversationItem, toConversation } from "../../../../shared/domain/conversations.ts";
import { leadItem, toLead } from "../../../../shared/domain/leads.ts";
import { conversationKey, indexes, leadEmailPartition, leadKey } from "../../../../shared/dynamodb/keys.ts";
import { type Item, type Key, readItem, table, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { aLead, aMessage } from "../../../support/requests.ts";
import { removeAttributes, setAttributes } from "./support.ts";

const account = randomUUID();
const soon = () => Date.now() + 10_000;

async function readRow(key: Key): Promise<Item> {
  const item = await readItem(key);
  if (!item) throw new Error("There is no such row.");
  return item;
}

/** A lead as it was stored before there was the filter `email`. @returns its key, and its item now and then */
async function anOldLead() {
  const { id } = await aLead(account, { email: "Ada@example.com", source: "fair" });
  const key = leadKey(account, id);
  const complete = await readRow(key);
  await removeAttributes(key, ["byParent"]);
  return { id, key, complete, old: await readRow(key) };
}

test("a row gets the keys that it lacks or has with other values, and nothing else changes", async () => {
  const { key, complete, old } = await anOldLead();
  expect(findMissingKeys(complete)).toBeUndefined();
  await addMissingKeys(old, new Pace());
  expect(await readItem(key)).toEqual(complete);
  await setAttributes(key, { byOrigin: "LEAD#other" });
  await addMissingKeys(await readRow(key), new Pace());
  expect(await readItem(key)).toEqual(complete);
});

test("an attribute of an index that today's code does not set is kept", async () => {
  const { id } = await aLead(account);
  const key = leadKey(account, id);
  await setAttributes(key, { byParent: "LEAD#other" });
  expect(findMissingKeys(await readRow(key))).toBeUndefined();
});

test("a change of the row since it was read wins", async () => {
  const { id, key, complete, old } = await anOldLead();
  // Another version of the code changes the address, and knows nothing of the index.
  await setAttributes(key, { email: "grace@example.com" });
  await setLeadStatus(account, id, "booked", soon());
  await addMissingKeys(old, new Pace());
  const { byStatus, byStatusAndOrigin, ...others } = complete;
  expect(await readItem(key)).toEqual({
    ...others,
    status: "booked",
    email: "grace@example.com",
    byParent: leadEmailPartition(account, "grace@example.com"),
    byStatus: String(byStatus).replace("new", "booked"),
    byStatusAndOrigin: String(byStatusAndOrigin).replace("new", "booked"),
  });
});

test("a key that another writer has set since is kept", async () => {
  const { key, complete, old } = await anOldLead();
  await setAttributes(key, { byParent: complete.byParent, score: 7 });
  await addMissingKeys(old, new Pace());
  expect(await readItem(key)).toEqual({ ...complete, score: 7 });
});

test("a row that was deleted since it was read stays deleted", async () => {
  const { key, old } = await anOldLead();
  await table.send(new DeleteCommand({ TableName: tableName, Key: key }));
  await addMissingKeys(old, new Pace());
  expect(await readItem(key)).toBeUndefined();
});

test("a conversation keeps the message and the status that came since it was read", async () => {
  const lead = await aLead(account);
  const { conversationId } = await aMessage(account, lead.id);
  const key = conversationKey(account, conversationId);
  await removeAttributes(key, ["byParent", "byOrigin", "byStatus", "byStatusAndOrigin"]);
  const old = await readRow(key);
  const { createdAt } = await aMessage(account, lead.id);
  await setConversationStatus(account, conversationId, "closed", soon());
  await addMissingKeys(old, new Pace());
  const item = await readRow(key);
  expect(item).toMatchObject({ status: "closed", messageCount: 2, lastMessageAt: createdAt });
  expect(item).toMatchObject({ byParent: expect.any(String), byOrigin: expect.any(String) });
  expect(findMissingKeys(item)).toBeUndefined();
});

test("a row whose number has more digits than JavaScript's gets its keys", async () => {
  const { key, complete } = await anOldLead();
  await setAttributes(key, { score: NumberValue.from("33.333333333333333333333") });
  await addMissingKeys(await readRow(key), new Pace());
  expect(await readItem(key)).toEqual({ ...complete, score: 100 / 3 });
});

test("index keys are made of the record's strings alone, which the condition of the write compares", async () => {
  const { id } = await aLead(account, { email: "ada@example.com", source: "fair", tags: ["vip"] });
  const { conversationId } = await aMessage(account, id);
  const lead = await readRow(leadKey(account, id));
  const conversation = await readRow(conversationKey(account, conversationId));
  const indexKeys = (item: Item) => Object.values(indexes).map((name) => item[name]);
  const strings = (item: Item) =>
    Object.fromEntries(Object.entries(item).filter(([, value]) => typeof value === "string"));
  expect(indexKeys(leadItem(account, toLead(strings(lead))))).toEqual(indexKeys(lead));
  expect(indexKeys(conversationItem(account, toConversation(strings(conversation))))).toEqual(
    indexKeys(conversation),
  );
});

test.each([
  { email: null },
  { email: 5 },
  { name: ["Ada"] },
  { score: "7" },
  { score: NumberValue.from("33333333333333333333333") },
  { tags: new Set(["vip"]) },
  { status: { S: "new" } },
  { source: "x".repeat(2048) },
])("a row with a value that no index key can have, or of another type, is incomplete: %o", async (wrong) => {
  const { key } = await anOldLead();
  await setAttributes(key, wrong);
  const row = await readRow(key);
  expect(findMissingKeys(row)).toBe("incomplete");
  await addMissingKeys(row, new Pace());
  expect(await readItem(key)).toEqual(row);
});

test("a row with an index attribute of another type is incomplete", async () => {
  const { complete } = await anOldLead();
  expect(findMissingKeys({ ...complete, byParent: 5 })).toBe("incomplete");
});

test("a row without all fields of its record is incomplete, and stays as it is", async () => {
  const { key, old } = await anOldLead();
  await removeAttributes(key, ["status"]);
  const { status, ...incomplete } = old;
  expect(findMissingKeys(incomplete)).toBe("incomplete");
  await addMissingKeys(old, new Pace());
  expect(await readItem(key)).toEqual(incomplete);
});
