import { activeConversationKey } from "../dynamodb/keys.ts";
import { readItem } from "../dynamodb/table-client.ts";

/** The conversation that the pointer of a lead on a channel names, which may have ended. */
export async function activeConversation(
  account: string,
  { leadId, channel }: { readonly leadId: string; readonly channel: string },
): Promise<string | undefined> {
  return (await readItem(activeConversationKey(account, leadId, channel)))?.conversationId;
}

/**
 * The condition that the pointer to the active conversation of a lead on a channel names a conversation, or that
 * there is none.
 */
export const pointerNames = (conversationId: string | undefined) =>
  conversationId === undefined
    ? { ConditionExpression: "attribute_not_exists(pk)" }
    : {
        ConditionExpression: "conversationId = :named",
        ExpressionAttributeValues: { ":named": conversationId },
      };
