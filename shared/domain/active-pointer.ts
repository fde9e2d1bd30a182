import { activeConversationKey } from "../dynamodb/keys.ts";
import { readItem } from "../dynamodb/table-client.ts";

/** The id of the conversation that the pointer of a lead on a channel names; it may no longer be active. */
export async function activeConversation(
  account: string,
  { leadId, channel }: { readonly leadId: string; readonly channel: string },
): Promise<string | undefined> {
  const pointer = await readItem(activeConversationKey(account, leadId, channel));
  return pointer && String(pointer.conversationId);
}

/** The condition that the pointer of a lead on a channel names this conversation, or does not exist. */
export const pointerNames = (conversationId: string | undefined) =>
  conversationId === undefined
    ? { ConditionExpression: "attribute_not_exists(pk)" }
    : {
        ConditionExpression: "conversationId = :named",
        ExpressionAttributeValues: { ":named": conversationId },
      };
