import { expect } from "vitest";
import { activeConversationKey } from "../../../../../shared/dynamodb/keys.ts";
import type { Item } from "../../../../../shared/dynamodb/table-client.ts";
import { tableItems } from "../../../../support/table-items.ts";

/** The items that a copy restores, of one account, without the marks of their changes. */
export const restoredItems = (items: ReadonlyMap<string, Item>, account: string) =>
  Object.fromEntries(
    [...items]
      .filter(([key]) =>
        ["LEAD", "EXTERNAL", "CONVERSATION", "MESSAGE", "ACTIVE"].some(
          (type) => key.startsWith(`${type}#${account} `) || key.startsWith(`${type}#${account}#`),
        ),
      )
      .map(([key, { changed, changeId, ...item }]) => [key, item as Item]),
  );

/** Checks that the API could have made the items of an account. */
export async function expectConsistent(account: string) {
  const items = Object.entries(restoredItems(await tableItems(), account));
  const ofType = (type: string) => items.filter(([key]) => key.startsWith(type)).map(([, item]) => item);
  const leads = new Set(ofType("LEAD").map(({ id }) => id));
  const named = ofType("LEAD").map(({ id, details }) => [Object(details).externalId, id]);
  expect(ofType("EXTERNAL").map(({ sk, leadId }) => [sk, leadId])).toEqual(named.filter(([sk]) => sk));
  const messages = ofType("MESSAGE");
  const locks = new Map(
    ofType("ACTIVE").map(({ pk, sk, conversationId }) => [`${pk} ${sk}`, conversationId]),
  );
  const conversations = ofType("CONVERSATION");
  const ids = new Set(conversations.map(({ id }) => id));
  for (const conversation of conversations) {
    const { id, leadId, channel, status, messageCount, lastMessageAt } = conversation;
    expect(leads).toContain(leadId);
    const own = messages
      .filter(({ conversationId }) => conversationId === id)
      .map((message) => String(message.createdAt));
    expect({ id, messageCount, lastMessageAt }).toEqual({
      id,
      messageCount: own.length,
      lastMessageAt: own.sort().at(-1),
    });
    const { pk, sk } = activeConversationKey(account, String(leadId), String(channel));
    // So no other one of the lead and channel is active.
    if (status === "active") expect(locks.get(`${pk} ${sk}`)).toBe(id);
  }
  for (const { conversationId } of messages) expect(ids).toContain(conversationId);
  return { items: Object.fromEntries(items), leads, conversations };
}
