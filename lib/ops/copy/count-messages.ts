import { conversationKey } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { queryAll } from "../../../shared/dynamodb/read-pages.ts";
import { readItem } from "../../../shared/dynamodb/table-client.ts";
import { createdAt, isId } from "../../../shared/ids.ts";
import { asChange, buildUpdate, updateItem } from "../table/write-items.ts";
import { messagesOf } from "../table/lead-items.ts";

/**
 * Counts the messages of a conversation, and corrects their number and the time of the last one where the conversation has
 * others. A message that is sent meanwhile changes both, so they are counted again.
 */
export const countMessages = (account: string, conversationId: string, pace: Pace): Promise<void> =>
  pace.retry(async () => {
    const key = conversationKey(account, conversationId);
    const conversation = await readItem(key);
    if (!conversation) return;
    const selection = { ...messagesOf(account, conversationId), ProjectionExpression: "sk" };
    const messages = await queryAll(selection, pace);
    const ids = messages.map(({ sk }) => sk).filter((id) => isId("msg", id));
    const lastId = ids.at(-1);
    if (lastId === undefined) return;
    const counted = { messageCount: ids.length, lastMessageAt: createdAt(lastId) };
    const { messageCount: count, lastMessageAt } = conversation;
    if (count === ids.length && lastMessageAt === counted.lastMessageAt) return;
    await updateItem(
      buildUpdate(key, asChange(conversation, counted), { messageCount: count, lastMessageAt }),
    );
  });
