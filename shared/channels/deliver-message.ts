import { givenUp, isGivenUp } from "../domain/conversations/update-message.ts";
import type { ServiceEvent } from "../domain/event-schemas.ts";
import { isContended } from "../dynamodb/dynamodb-errors.ts";
import { messageKey } from "../dynamodb/keys.ts";
import { withRetry } from "../dynamodb/retry.ts";
import { readItem } from "../dynamodb/table-client.ts";
import type { MetaChannel } from "../meta-channels.ts";
import { readConnection } from "./connections.ts";
import { type Sent, sendByGraph, UndeliveredError } from "./graph-api.ts";
import { readSecret, tokenOf } from "./secrets.ts";
import { storeDelivery, toCallbackData } from "./store-delivery.ts";

export type MessageSent = Extract<ServiceEvent, { type: "message.sent" }> & { readonly channel: MetaChannel };

/** The longest texts: of WhatsApp in characters, of Instagram in bytes. */
export const longest = { whatsapp: 4096, instagram: 1000 };

/** For how long it is tried to store what came of a message, in milliseconds. */
const storePatience = 5000;

/**
 * Sends a message by its channel, and stores what came of it. A message of an account that has not connected the channel is left
 * to the event bus, and so is one from before. If a message is sent and that cannot be stored, the next attempt sends it again,
 * unless a webhook has told of it meanwhile: the Graph API knows no key that would prevent it.
 *
 * @throws UndeliveredError if another attempt may succeed; after the last one, the message has failed
 */
export async function deliverMessage(event: MessageSent, { isLast }: { isLast: boolean }): Promise<void> {
  const { account, id, conversationId, channel, createdAt } = event;
  const { sender, connectedAt } = (await readConnection(account, channel)) ?? {};
  if (sender === undefined || createdAt < String(connectedAt)) return;
  const stored = await readItem(messageKey(account, conversationId, id));
  // Its lead may have been erased. What was given up, an operator can queue again.
  if (!stored || (stored.delivery !== undefined && !isGivenUp(stored))) return;
  // Others may change the conversation, and what is not stored is sent again.
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
  const { channel, to, message: text, template } = event;
  const fault = findFault(event);
  if (to === undefined || fault !== undefined)
    return { delivery: "failed", deliveryError: fault ?? "The lead had no address on this channel." };
  const token = await readSecret(tokenOf(channel, sender));
  if (token === undefined)
    throw new UndeliveredError("The channel has no token: connect it again.", { isRefusedSender: true });
  return sendByGraph(token, { channel, sender, to, text, template, callbackData: toCallbackData(event) });
}

/** Why a channel does not take a message. A text is never cut: half of one can say the opposite. */
function findFault({ channel, message, template }: MessageSent): string | undefined {
  if (template)
    return channel === "whatsapp" ? undefined : "Only WhatsApp has templates: send the text without one.";
  const length = channel === "whatsapp" ? [...message].length : Buffer.byteLength(message);
  const unit = channel === "whatsapp" ? "characters" : "bytes";
  if (length > longest[channel])
    return `The text has ${length} ${unit}, and the channel takes ${longest[channel]}.`;
  return undefined;
}
