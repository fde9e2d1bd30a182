import { expect, test } from "vitest";
import { ItemsToErase } from "../../../../lib/ops/erasure/items-to-erase.ts";
import * as keys from "../../../../shared/dynamodb/keys.ts";
import type { Item } from "../../../../shared/dynamodb/table-client.ts";

const account = "acme";
const ada = "lead_ada";
const ofBob = { leadId: "lead_bob" };
const conversation = keys.conversationKey(account, "conv_ada");
const message = keys.messageKey(account, "conv_ada", "msg_1");
const record = keys.idempotencyKey(account, "create-lead", "1");

const noLead = "its leadId is not a string";
const notItsConversation = "its leadId is not that of its conversation";

/** Items beside Ada's conversation `conv_ada`, which is erased, and why it is unclear whether they are hers. */
test.each<[what: string, item: Item, reason: string]>([
  [
    "another lead with her id",
    { ...keys.leadKey(account, "lead_bob"), id: ada },
    "its id is not its sort key",
  ],
  ["a message of another lead in her conversation", { ...message, ...ofBob }, notItsConversation],
  ["one of the account as %61cme", { pk: "MESSAGE#%61cme#conv_ada", ...ofBob }, notItsConversation],
  ["a message without a lead", { ...message, message: "Hello" }, noLead],
  ["a message of several leads", { ...message, leadId: [ada] }, noLead],
  ["a conversation of a map", { ...conversation, leadId: { id: ada } }, noLead],
  ["an external id of several leads", { ...keys.externalIdKey(account, "crm-1"), leadId: [ada] }, noLead],
  ["an address of several leads", { ...keys.addressKey(account, "web", "ada"), leadId: [ada] }, noLead],
  ...[undefined, "ids", null, [ada], {}, { id: ada, conversationId: 5 }].map(
    (ids): [string, Item, string] => [
      `a record with the ids ${JSON.stringify(ids)}`,
      { ...record, ids },
      "its ids are not strings",
    ],
  ),
])("%s is not erased, but reported: %o", (_, item, reason) => {
  const found = new ItemsToErase({ account, leads: new Set([ada]) });
  found.take([{ ...conversation, leadId: ada }]);
  expect(found.take([item])).toEqual([]);
  expect(Array.from(found.invalid.values(), (each) => each.reason)).toEqual([reason]);
});
