import { conversationStatusKeys, isNotJoinable } from "../../../shared/domain/conversations.ts";
import { isRetryable } from "../../../shared/dynamodb/dynamodb-errors.ts";
import { activeConversationKey, conversationKey } from "../../../shared/dynamodb/keys.ts";
import { withRetry } from "../../../shared/dynamodb/retry.ts";
import { isAsRead, readItem, tableName } from "../../../shared/dynamodb/table-client.ts";
import { type TransactItems, transact } from "../../../shared/dynamodb/transact.ts";
import { isId } from "../../../shared/ids.ts";
import { active, type Conversation } from "../../../shared/schemas/conversation-schemas.ts";
import { readRecord } from "../../../shared/schemas/record.ts";
import { validateConversation } from "../../../shared/schemas/record-validators.ts";
import { storedName } from "../../../shared/stored-name.ts";
import { UserError } from "../../errors.ts";
import { asChange, buildUpdate, updateItem } from "../table/write-items.ts";

/**
 * Changes the status of a conversation, to the stored form of the requested one. A lead has at most one active
 * conversation on a channel. After it ends, the next message starts another.
 *
 * @param deadline until when to retry, in milliseconds since the epoch
 * @param dryRun whether to write nothing
 * @returns the changed conversation; undefined when the account has no such conversation
 * @throws MalformedItemError, or UserError when another conversation of the lead on the channel is active
 * @throws StaleReadError, or the error of a conflict, when other writers won until the deadline
 */
export function setConversationStatus(
  account: string,
  id: string,
  requested: string,
  deadline: number,
  dryRun = false,
): Promise<Conversation | undefined> {
  const status = storedName(requested);
  return withRetry(
    async () => {
      const key = conversationKey(account, id);
      const item = await readItem(key);
      if (!item) return undefined;
      const conversation = { ...readRecord(validateConversation, item), status };
      const set = { status, ...conversationStatusKeys(account, conversation) };
      const update = buildUpdate(key, asChange(item, set), { status: item.status });
      if (status !== active)
        return dryRun ? conversation : readRecord(validateConversation, await updateItem(update));
      const { items, activeId } = await activation(account, conversation);
      if (activeId !== undefined)
        throw new UserError(
          `The lead has another active conversation on this channel, ${activeId}: end that one first.`,
        );
      if (!dryRun) await transact([{ Update: update }, ...items]);
      return conversation;
    },
    { deadline, isRetryable },
  );
}

/**
 * What a transaction that makes a conversation active writes and checks besides: the pointer of its lead on its channel
 * names it, and no message may join the conversation that it named before, which may be of another lead.
 *
 * @returns `activeId` if another conversation is active in its place; `isNamed` if the pointer names it already
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
