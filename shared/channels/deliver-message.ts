import { isGivenUp } from "../domain/conversations/update-message.ts";
import { isContended } from "../dynamodb/dynamodb-errors.ts";
import { messageKey } from "../dynamodb/keys.ts";
import { withRetry } from "../dynamodb/retry.ts";
import { readItem } from "../dynamodb/table-client.ts";
import { givenUp } from "../schemas/field-schemas.ts";
import { readConnection } from "./connections.ts";
import { type MessageSent, type Sent, sendByGraph, UndeliveredError } from "./graph-api.ts";
import { readSecret, tokenOf } from "./secrets.ts";
import { storeDelivery } from "./store-delivery.ts";

/** The longest text on Instagram, in bytes. The API's own limit is that of WhatsApp. */
export const maxInstagramBytes = 1000;

/** For how long storing the result of a message is retried, in milliseconds. */
const storePatience = 5000;

/**
 * Sends a message on its channel, and stores the result. A message of an account that has not connected the channel, or
 * from before the connection, is left to the event bus. If the result of a sent message cannot be stored, the next attempt
 * sends the message again, unless a webhook has reported it meanwhile: the Graph API has no idempotency key.
 *
 * @throws UndeliveredError if another attempt may succeed; after the last attempt, the message is stored as failed
 */
export async function deliverMessage(event: MessageSent, { isLast }: { isLast: boolean }): Promise<void> {
  const { account, id, conversationId, channel, createdAt } = event;
  const { sender, connectedAt } = (await readConnection(account, channel)) ?? {};
  if (sender === undefined || createdAt < String(connectedAt)) return;
  const stored = await readItem(messageKey(account, conversationId, id));
  // The lead may have been erased. An operator can queue a message again that was given up.
  if (!stored || (stored.delivery !== undefined && !isGivenUp(stored))) return;
  // Other writers may change the conversation, and a message whose result is not stored is sent again.
  const store = (sent: Sent) =>
    withRetry(() => storeDelivery(account, { id, conversationId, ...sent }), {
      deadline: Date.now() + storePatience,
      isRetryable: isContended,
    });
  try {
    await store(await send(event, sender));
  } catch (error) {
    if (error instanceof UndeliveredError && isLast)
      await store({ delivery: "failed", deliveryError: givenUp + error.message });
    throw error;
  }
}

async function send(event: MessageSent, sender: string): Promise<Sent> {
  const { channel, to } = event;
  const fault = findFault(event);
  if (to === undefined || fault !== undefined)
    return { delivery: "failed", deliveryError: fault ?? "The lead had no address on this channel." };
  const token = await readSecret(tokenOf(channel, sender));
  if (token === undefined)
    throw new UndeliveredError("The channel has no token: connect it again.", { isRefusedSender: true });
  return sendByGraph(token, { ...event, to, sender });
}

/** Why a channel would refuse a message. A text is never cut, because half of a text can mean the opposite. */
function findFault({ channel, message, template }: MessageSent): string | undefined {
  if (template)
    return channel === "whatsapp" ? undefined : "Only WhatsApp has templates: send the text without one.";
  const bytes = Buffer.byteLength(message);
  return channel === "instagram" && bytes > maxInstagramBytes
    ? `The text has ${bytes} bytes, but Instagram accepts at most ${maxInstagramBytes}.`
    : undefined;
}
