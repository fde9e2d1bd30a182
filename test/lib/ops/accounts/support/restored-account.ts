import { randomUUID } from "node:crypto";
import { expect, vi } from "vitest";
import { setConversationStatus } from "../../../../../lib/ops/conversations/conversations-command.ts";
import { activeConversationKey } from "../../../../../shared/dynamodb/keys.ts";
import { type Item, table } from "../../../../../shared/dynamodb/table-client.ts";
import { copyTable } from "../../../../support/memory-tables.ts";
import { aLead, aMessage } from "../../../../support/requests.ts";
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

/** In milliseconds. */
export const hour = 3_600_000;

/** Does something at a time in the past, in milliseconds before now. */
export async function ago<T>(time: number, work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - time });
  try {
    return await work();
  } finally {
    vi.useRealTimers();
  }
}

/** Such an account, and a copy of the table. */
export async function anAccount() {
  const data = await aFilledAccount();
  const { account } = data;
  return { ...data, from: copyTable(), before: restoredItems(await tableItems(), account) };
}

/** An account with two leads, four conversations and six messages of an hour ago. */
export async function aFilledAccount() {
  const account = randomUUID();
  const fill = async (lead: Parameters<typeof aLead>[1]) => {
    const { id } = await aLead(account, lead);
    const { conversationId: whatsapp } = await aMessage(account, id);
    await aMessage(account, id);
    const { conversationId: email } = await aMessage(account, id, "email");
    return { id, whatsapp, email };
  };
  const fields = { email: "ada@example.com", source: "fair", externalId: "crm-ada" };
  return ago(hour, async () => ({
    account,
    ada: await fill({ ...fields, metadata: { plan: "pro" } }),
    grace: await fill({ name: "Grace" }),
  }));
}

export const close = (account: string, id: string) => setConversationStatus(account, id, "closed");
