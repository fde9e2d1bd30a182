import { conversationKey, messageKey } from "../../../shared/dynamodb/keys.ts";
import { createdAt, ulidPattern } from "../../../shared/ids.ts";
import type { Pace } from "../common/pace.ts";
import { inPartition, queryItems } from "../common/read-items.ts";
import { buildUpdate, updateItem } from "../common/write-items.ts";
import { readStored } from "./store-line.ts";

const messageId = new RegExp(`^msg_${ulidPattern}$`);

/**
 * Counts the messages of a conversation, and corrects their number and the time of the last one where the conversation has
 * others. A message that is sent meanwhile changes both, so they are counted again.
 */
export const countMessages = (account: string, conversationId: string, pace: Pace): Promise<void> =>
  pace.retry(async () => {
    const key = conversationKey(account, conversationId);
    const conversation = await readStored(key);
    if (!conversation) return;
    let messageCount = 0;
    let lastId = "";
    const { pk } = messageKey(account, conversationId, "");
    for await (const items of queryItems({ ...inPartition(pk), ProjectionExpression: "sk" }, pace))
      for (const { sk } of items)
        if (messageId.test(String(sk))) {
          messageCount += 1;
          lastId = String(sk);
        }
    if (messageCount === 0) return;
    const counted = { messageCount, lastMessageAt: createdAt(lastId) };
    const { messageCount: count, lastMessageAt } = conversation;
    if (String(count) === String(messageCount) && lastMessageAt === counted.lastMessageAt) return;
    await updateItem(buildUpdate(key, counted, { messageCount: count, lastMessageAt }));
  });
