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
