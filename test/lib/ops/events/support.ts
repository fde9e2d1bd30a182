import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { ulid } from "ulid";
import { conversationItem } from "../../../../shared/domain/conversations.ts";
import { leadItem } from "../../../../shared/domain/leads.ts";
import { erasedLeadKey, messageKey } from "../../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { createdAt } from "../../../../shared/ids.ts";

const put = (Item: object) => table.send(new PutCommand({ TableName: tableName, Item: { ...Item } }));

/** Stores a lead that was created at a time. @returns its id */
export async function storeLead(account: string, at: number, others: object = {}): Promise<string> {
  const id = `lead_${ulid(at)}`;
  const lead = { id, name: "Ada", score: 0, status: "new", tags: [], createdAt: createdAt(id) } as const;
  await put({ ...leadItem(account, { ...lead, tags: [] }), ...others });
  return id;
}

/** Stores what is left of a lead that was erased at a time. @returns the id of the erasure */
export async function storeErasedLead(
  account: string,
  at: number,
  createdAt: number,
  others: object = {},
): Promise<string> {
  const [id, leadId] = [`erasure_${ulid(at)}`, `lead_${ulid(createdAt)}`];
  await put({ ...erasedLeadKey(account, leadId), id, leadId, ...others });
  return id;
}

/** Stores a conversation whose messages were sent at these times. @returns the ids, the conversation's first */
export async function storeConversation(account: string, times: readonly number[]): Promise<string[]> {
  const conversation = {
    ...{ id: `conv_${ulid(times[0])}`, leadId: `lead_${ulid(times[0])}`, channel: "whatsapp" },
    ...{ status: "active", messageCount: times.length },
    lastMessageAt: new Date(Math.max(...times)).toISOString(),
  };
  await put(conversationItem(account, conversation));
  const ids = [conversation.id];
  for (const time of times) {
    const id = `msg_${ulid(time)}`;
    ids.push(id);
    const { leadId, channel } = conversation;
    const message = { id, conversationId: conversation.id, leadId, channel, message: "Hello" };
    await put({ ...messageKey(account, conversation.id, id), ...message, createdAt: createdAt(id) });
  }
  return ids;
}
