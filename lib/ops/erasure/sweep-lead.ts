import { DeleteCommand } from "@aws-sdk/lib-dynamodb";
import { conversationKey, leadKey } from "../../../shared/dynamodb/keys.ts";
import { type Key, table, tableName } from "../../../shared/dynamodb/table-client.ts";
import type { Pace } from "../common/pace.ts";
import { deleteItems } from "../common/write-items.ts";
import { readLeadConversations, readMessageKeys, readPointers } from "./lead-items.ts";

/** How many items of a lead there are, or were. */
export interface LeadItems {
  readonly conversations: number;
  readonly messages: number;
  readonly pointers: number;
}

/** The ids of the conversations that a lead has, or that its pointers name. */
export async function findConversationIds(account: string, leadId: string, pace: Pace): Promise<Set<string>> {
  const pointers = await readPointers(account, leadId, pace);
  const conversations = await readLeadConversations(account, leadId, pace);
  return new Set([
    ...conversations.map(({ sk }) => String(sk)),
    ...pointers.map(({ conversationId }) => String(conversationId)),
  ]);
}

/** Counts the items of a lead. */
export async function countLeadItems(account: string, leadId: string, pace: Pace): Promise<LeadItems> {
  const conversations = await readLeadConversations(account, leadId, pace);
  let messages = 0;
  for (const { sk } of conversations)
    for await (const keys of readMessageKeys(account, String(sk), pace)) messages += keys.length;
  const pointers = await readPointers(account, leadId, pace);
  return { conversations: conversations.length, messages, pointers: pointers.length };
}

/**
 * Deletes the messages, conversations and pointers of an erased lead until none are left, and the lead itself if an import
 * has stored it meanwhile.
 *
 * A conversation is deleted after its messages, and pointers after their conversations: whenever this ends, what is left
 * is found again.
 */
export async function sweepLead(account: string, leadId: string, pace: Pace): Promise<LeadItems> {
  await deleteItem(leadKey(account, leadId), pace);
  const deleted = { conversations: 0, messages: 0, pointers: 0 };
  const swept = new Set<string>();
  for (;;) {
    // The index may still list conversations that were just deleted.
    const left = [...(await findConversationIds(account, leadId, pace))].filter((id) => !swept.has(id));
    if (left.length === 0) break;
    for (const id of left) {
      for await (const keys of readMessageKeys(account, id, pace)) {
        await deleteItems(keys, pace);
        deleted.messages += keys.length;
      }
      if (await deleteItem(conversationKey(account, id), pace)) deleted.conversations += 1;
      swept.add(id);
    }
  }
  const pointers = (await readPointers(account, leadId, pace)) as unknown as readonly Key[];
  await deleteItems(pointers, pace);
  deleted.pointers += pointers.length;
  return deleted;
}

/** Deletes an item. @returns whether it existed */
async function deleteItem(key: Key, pace: Pace): Promise<boolean> {
  const command = new DeleteCommand({ TableName: tableName, Key: key, ReturnValues: "ALL_OLD" });
  return (await pace.retry(() => table.send(command))).Attributes !== undefined;
}
