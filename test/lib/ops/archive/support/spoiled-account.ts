import { randomUUID } from "node:crypto";
import { NumberValue, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { ulid } from "ulid";
import { vi } from "vitest";
import { setConversationStatus } from "../../../../../lib/ops/conversations/conversation-status.ts";
import { setLeadStatus } from "../../../../../lib/ops/leads/lead-changes.ts";
import { conversationItem } from "../../../../../shared/domain/conversations.ts";
import { leadItem } from "../../../../../shared/domain/leads.ts";
import {
  activeConversationKey,
  conversationKey,
  leadKey,
  messageKey,
} from "../../../../../shared/dynamodb/keys.ts";
import { type Key, table, tableName } from "../../../../../shared/dynamodb/table-client.ts";
import { createdAt } from "../../../../../shared/ids.ts";
import { copyTable } from "../../../../support/copied-table.ts";
import { aLead, aMessage } from "../../../../support/requests.ts";
import { tableItems } from "../../../../support/table-items.ts";
import { put, remove, restoredItems } from "./restored-items.ts";

/** A time in milliseconds. */
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

export const idAt = (prefix: string, time: number) => `${prefix}_${ulid(time)}`;

/** Writes the items of a lead, a conversation and a message past the API, all of a time in the past, as an import would. */
export async function junk(account: string, time: number, conversationStatus = "active") {
  const [id, conversationId, messageId] = ["lead", "conv", "msg"].map((kind) =>
    idAt(kind, Date.now() - time),
  ) as [string, string, string];
  const sent = createdAt(messageId);
  const lead = { id, name: "Junk", score: 0, status: "new" as const, tags: [], createdAt: createdAt(id) };
  const fields = { leadId: id, channel: "whatsapp", status: conversationStatus, messageCount: 1 };
  const message = {
    id: messageId,
    conversationId,
    leadId: id,
    channel: "whatsapp",
    message: "Hi",
    createdAt: sent,
  };
  await put(leadItem(account, lead));
  await put({ ...messageKey(account, conversationId, messageId), ...message });
  await put(conversationItem(account, { ...fields, id: conversationId, lastMessageAt: sent }));
  await put({ ...activeConversationKey(account, id, "whatsapp"), conversationId });
  return { id, conversationId, messageId };
}

/** Such an account, and a copy of the table. */
export async function anAccount(account: string = randomUUID()) {
  const data = await aFilledAccount(account);
  return { ...data, from: await copyTable(), before: restoredItems(await tableItems(), account) };
}

/** An account with two leads, four conversations and six messages of an hour ago. */
export async function aFilledAccount(account: string = randomUUID()) {
  const [ada, grace] = await ago(hour, async () => {
    const leads = [
      await aLead(account, { email: "ada@example.com", source: "fair" }),
      await aLead(account, { name: "Grace" }),
    ] as const;
    return Promise.all(
      leads.map(async ({ id }) => {
        const whatsapp = (await aMessage(account, id)).conversationId;
        await aMessage(account, id);
        const { conversationId: email } = await aMessage(account, id, "email");
        return { id, whatsapp, email };
      }),
    );
  });
  if (!ada || !grace) throw new Error("There are two.");
  return { account, ada, grace };
}

export const close = (account: string, id: string) =>
  setConversationStatus(account, id, "closed", Date.now() + 10_000);

type FilledAccount = Awaited<ReturnType<typeof aFilledAccount>>;

/** Spoils data of an account: it deletes items, changes and removes their fields, and adds one. */
export async function spoil({ account, ada, grace }: FilledAccount) {
  const items = restoredItems(await tableItems(), account);
  await remove(leadKey(account, ada.id));
  await setLeadStatus(account, grace.id, "booked", Date.now() + 10_000);
  const update = { TableName: tableName, Key: leadKey(account, grace.id) };
  await table.send(
    new UpdateCommand({
      ...update,
      // In an hour, the table would delete it.
      UpdateExpression: "SET expiresAt = :t, score = :s REMOVE tags",
      ExpressionAttributeValues: {
        ":t": Math.ceil(Date.now() / 1000) + 3600,
        ":s": NumberValue.from("12345678901234567890123456789012345678"),
      },
    }),
  );
  await remove(conversationKey(account, ada.whatsapp));
  await close(account, ada.email);
  const messages = Object.values(items).filter(({ pk }) => String(pk).startsWith("MESSAGE"));
  const [deleted, changed] = messages.filter(({ conversationId }) => conversationId === grace.whatsapp);
  await remove(deleted as Key);
  await put({ ...changed, message: "Spoiled" });
  await remove(activeConversationKey(account, grace.id, "email"));
}
