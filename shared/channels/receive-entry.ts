import { readLock } from "../domain/conversations/active-conversation.ts";
import { openConversations } from "../domain/conversations/conversations.ts";
import { sendMessage } from "../domain/conversations/messages.ts";
import { createOrUpdateLead } from "../domain/create-lead.ts";
import { idempotentRequest } from "../domain/idempotent-replay.ts";
import { readName } from "../domain/lead-names.ts";
import { addressKey, comparableAddress } from "../dynamodb/keys.ts";
import { ApiError } from "../errors.ts";
import { isId } from "../ids.ts";
import type { Message } from "../schemas/conversation-schemas.ts";
import { findOrCreateLead } from "./find-or-create-lead.ts";
import type { MovedLead, ReceivedMessage, ReportedState, WebhookEntry } from "./meta-webhook.ts";
import { readCallbackData, storeDelivery, toText } from "./store-delivery.ts";

/** How many of the newest messages of a conversation can be told as read by the provider's id alone. */
const newest = "100";

/**
 * Stores what a webhook tells of a message, once, however often it comes.
 *
 * @throws an error if the webhook has to come again
 */
export async function receiveEntry(account: string, entry: WebhookEntry): Promise<void> {
  if (entry.kind === "message") await receiveMessage(account, entry);
  if (entry.kind === "state") await storeState(account, entry);
  if (entry.kind === "move") await moveLead(account, entry);
}

async function receiveMessage(account: string, message: ReceivedMessage): Promise<void> {
  const { channel, id, text, metadata } = message;
  const leadId = await findOrCreateLead(account, message);
  // The same message is the same request, whatever else Meta sends of it the next time.
  const request = idempotentRequest(account, "receive-webhook", `${channel} ${id}`, {});
  const input = { leadId, channel, direction: "inbound", message: toText(text, 4096, "(no text)") } as const;
  await sendMessage(account, { ...input, metadata }, request);
}

/** Gives a lead its new number, which it is answered at from now on. */
async function moveLead(account: string, { channel, lead, address }: MovedLead): Promise<void> {
  const { item } = await readName(account, addressKey(account, channel, lead));
  if (item) await findOrCreateLead(account, { channel, addresses: [address, lead] });
}

async function storeState(account: string, state: ReportedState): Promise<void> {
  const { callbackData, delivery, deliveryError, providerId } = state;
  const sent = callbackData === undefined ? await findSent(account, state) : readCallbackData(callbackData);
  if (!sent) return;
  const error = deliveryError !== undefined && { deliveryError };
  const message = await storeDelivery(account, { ...sent, delivery, providerId, ...error });
  if (message) await addAddress(account, message, state);
}

/** WhatsApp knows some numbers in another form than people write, such as without a 9 in Brazil: the lead answers from that. */
async function addAddress(account: string, { leadId, to }: Message, { channel, lead }: ReportedState) {
  if (lead === undefined || to === undefined || comparableAddress(lead) === comparableAddress(to)) return;
  try {
    await createOrUpdateLead(account, { id: leadId, addresses: { [channel]: [lead] } });
  } catch (error) {
    // Another lead has it, this one has ten addresses, or it has been erased.
    if (!(error instanceof ApiError)) throw error;
  }
}

/** The message with an id of the provider among the newest of the lead's conversation. */
async function findSent(account: string, { channel, lead = "", providerId }: ReportedState) {
  const { leadId } = await readName(account, addressKey(account, channel, lead));
  if (!isId("lead", leadId)) return undefined;
  const conversationId = await readLock(account, { leadId, channel });
  if (!isId("conv", conversationId)) return undefined;
  const query = { id: [conversationId], include: "messages" as const, messageLimit: newest };
  const { data } = await openConversations(account, query, { page: 1, limit: 1 });
  const found = data[0]?.messages?.find((message) => message.providerId === providerId);
  return found && { id: found.id, conversationId };
}
