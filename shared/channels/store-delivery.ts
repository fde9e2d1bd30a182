import { updateMessage } from "../domain/conversations/update-message.ts";
import { ApiError } from "../errors.ts";
import { isId } from "../ids.ts";
import type { Message, MessageUpdate } from "../schemas/conversation-schemas.ts";
import { toText } from "./message-content.ts";

/**
 * Stores how far a message has got according to Meta, whose texts can have any form.
 *
 * @returns the message; undefined if its lead has been erased, or another app has sent it from the same sender
 */
export async function storeDelivery(account: string, { deliveryError: reason, ...report }: MessageUpdate) {
  const deliveryError = reason === undefined ? undefined : toText(reason, 500, "unknown");
  try {
    return (await updateMessage(account, { ...report, deliveryError })).record;
  } catch (error) {
    const isOfNobody =
      error instanceof ApiError && ["message_not_found", "invalid_input"].includes(error.code);
    if (!isOfNobody) throw error;
    return undefined;
  }
}

/** The ids of a message as a text, which Meta returns with each state of the message. */
export const toCallbackData = ({ id, conversationId }: Pick<Message, "id" | "conversationId">) =>
  `${conversationId} ${id}`;

/** Reads the ids of a message from such a text; undefined for the text of another program. */
export function readCallbackData(text: string) {
  const [conversationId, id, ...more] = text.split(" ");
  return isId("conv", conversationId) && isId("msg", id) && more.length === 0
    ? { id, conversationId }
    : undefined;
}
