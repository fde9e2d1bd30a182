import { isNotJoinable } from "../../../shared/domain/conversations.ts";
import { activeConversationKey, conversationKey } from "../../../shared/dynamodb/keys.ts";
import { isAsRead, readItem, tableName } from "../../../shared/dynamodb/table-client.ts";
import type { TransactItems } from "../../../shared/dynamodb/transact.ts";
import { isId } from "../../../shared/ids.ts";
import { active, type Conversation } from "../../../shared/schemas/conversation-schemas.ts";

/**
 * What a transaction that makes a conversation active writes and checks besides: the lock of its lead on its channel
 * names it, and no message may join the conversation that it named before, which may be of another lead.
 *
 * @returns `activeId` if another conversation is active in its place; `isNamed` if the lock names it already
 */
export async function activation(
  account: string,
  conversation: Pick<Conversation, "id" | "leadId" | "channel">,
): Promise<{ readonly items: TransactItems; readonly activeId?: string; readonly isNamed: boolean }> {
  const { id, leadId, channel } = conversation;
  const key = activeConversationKey(account, leadId, channel);
  const named = (await readItem(key))?.conversationId;
  const Item = { ...key, conversationId: id };
  const put = { Put: { TableName: tableName, Item, ...isAsRead("conversationId", named) } };
  if (named === id || !isId("conv", named)) return { items: [put], isNamed: named === id };
  const other = await readItem(conversationKey(account, named));
  if (other?.status === active && other.leadId === leadId && other.channel === channel)
    return { items: [], activeId: named, isNamed: false };
  return { items: [put, isNotJoinable(account, named, conversation)], isNamed: false };
}
