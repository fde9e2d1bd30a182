import { expect, test } from "vitest";
import { ItemsToErase } from "../../../../lib/ops/erasure/items-to-erase.ts";
import {
  activeConversationKey,
  addressKey,
  conversationKey,
  erasedLeadKey,
  externalIdKey,
  idempotencyKey,
  leadKey,
  messageKey,
} from "../../../../shared/dynamodb/keys.ts";
import type { Item } from "../../../../shared/dynamodb/table-client.ts";

const account = "acme";
const [ada, bob] = ["lead_ada", "lead_bob"];
const ofAda = { leadId: ada };
const ofBob = { leadId: bob };
const conversation = conversationKey(account, "conv_ada");
const message = messageKey(account, "conv_ada", "msg_1");
const othersMessage = messageKey(account, "conv_bob", "msg_1");
const lock = activeConversationKey(account, ada, "sms");
const record = idempotencyKey(account, "create-lead", "1");

const noLead = "its leadId is not a string";
const notItsConversation = "its leadId is not that of its conversation";
const noIds = "its ids are not strings";

/** Items beside the conversation `conv_ada` of Ada, who is erased, and whether they are, or why nobody can tell. */
test.each<[what: string, item: Item, verdict: boolean | string]>([
  ["the lead", leadKey(account, ada), true],
  ["another lead", leadKey(account, bob), false],
  [
    "another lead with the id of this one",
    { ...leadKey(account, bob), id: ada },
    "its id is not its sort key",
  ],
  ["the same lead of another account", leadKey("acme-1", ada), false],
  ["a message of the lead", { ...message, ...ofAda }, true],
  ["a message of the lead in the conversation of another one", { ...othersMessage, ...ofAda }, true],
  ["a message of another lead", { ...othersMessage, ...ofBob }, false],
  ["a message of another lead in a conversation of this one", { ...message, ...ofBob }, notItsConversation],
  ["a message without a lead", { ...message, message: "Hello" }, noLead],
  ["a message of several leads", { ...message, leadId: [ada] }, noLead],
  ["a conversation of another lead", { ...conversationKey(account, "conv_bob"), ...ofBob }, false],
  ["a conversation without a lead", conversationKey(account, "conv_x"), noLead],
  ["a conversation of a number", { ...conversation, leadId: 5 }, noLead],
  ["a conversation of a map", { ...conversation, leadId: { id: ada } }, noLead],
  ["a conversation under a key that is no id", { ...conversation, ...ofAda, sk: "ä".repeat(500) }, true],
  ["a lock to a conversation of another lead", { ...lock, conversationId: "conv_bob" }, true],
  ["a lock to nothing", lock, true],
  ["a lock to a number", { ...lock, conversationId: 5 }, true],
  ["a lock to too much", { ...lock, conversationId: "x".repeat(2000) }, true],
  ["a lock of another lead", { ...activeConversationKey(account, bob, "sms"), ...ofAda }, false],
  ["an external id of the lead", { ...externalIdKey(account, "crm-1"), ...ofAda }, true],
  ["an external id of another lead", { ...externalIdKey(account, "crm-1"), ...ofBob }, false],
  ["an address of the lead", { ...addressKey(account, "sms", "1"), ...ofAda }, true],
  ["an address of another lead", { ...addressKey(account, "sms", "1"), ...ofBob }, false],
  ["the lead in a partition with more parts", { pk: "LEAD#acme#x", sk: ada }, true],
  ["the lead of the account as %61cme", { pk: "LEAD#%61cme", sk: ada }, true],
  ["a lock of the account as %61cme", { pk: `ACTIVE#%61cme#${ada}`, sk: "sms" }, true],
  [
    "a message of another lead in its conversation there",
    { pk: "MESSAGE#%61cme#conv_ada", ...ofBob },
    notItsConversation,
  ],
  ["an external id of several leads", { ...externalIdKey(account, "crm-1"), leadId: [ada] }, noLead],
  ["the record of a request that made the lead", { ...record, ids: { id: ada } }, true],
  ["that of a message", { ...record, ids: { id: "msg_1", conversationId: "conv_ada" } }, true],
  [
    "that of a message to another lead",
    { ...record, ids: { id: "msg_1", conversationId: "conv_bob" } },
    false,
  ],
  ...[undefined, "ids", null, [ada], {}, { id: ada, conversationId: 5 }].map(
    (ids): [string, Item, string] => [
      `a record with the ids ${JSON.stringify(ids)}`,
      { ...record, ids },
      noIds,
    ],
  ),
  ["the note of an erasure", { ...erasedLeadKey(account, ada), ...ofAda }, false],
])("of the items of a lead, %s: %o is erased: %j", (_, item, verdict) => {
  const found = new ItemsToErase({ account, leads: new Set([ada]) });
  found.take([{ ...conversation, ...ofAda }]);
  expect(found.take([item])).toEqual(verdict === true ? [item] : []);
  expect(Array.from(found.invalid.values(), ({ reason }) => reason)).toEqual(
    typeof verdict === "string" ? [verdict] : [],
  );
});
