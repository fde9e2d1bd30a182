import { readLock } from "../domain/conversations/active-conversation.ts";
import { inboundLifetime, sendMessage } from "../domain/conversations/messages.ts";
import { newest, readNewest } from "../domain/conversations/newest-messages.ts";
import { isGivenUp } from "../domain/conversations/update-message.ts";
import { changeLead, createOrUpdateLead } from "../domain/create-lead.ts";
import { idempotentRequest, readRecorded } from "../domain/idempotent-replay.ts";
import { type LeadName, readName } from "../domain/lead-names.ts";
import { ifValid } from "../dynamodb/invalid-items.ts";
import { addressKey, comparableAddress } from "../dynamodb/keys.ts";
import { retryBriefly } from "../dynamodb/throttling.ts";
import { ApiError } from "../errors.ts";
import { isId } from "../ids.ts";
import type { MetaChannel } from "../meta-channels.ts";
import type { Message } from "../schemas/conversation-schemas.ts";
import { readRecord } from "../schemas/record.ts";
import { validateLead } from "../schemas/record-validators.ts";
import { findOrCreateLead } from "./find-or-create-lead.ts";
import { toText } from "./message-content.ts";
import type { MovedLead, ReceivedMessage, ReportedState, WebhookEntry } from "./meta-webhook.ts";
import { readCallbackData, storeDelivery } from "./store-delivery.ts";

/** The longest time for which a message waits to be sent, in milliseconds. */
const longestWait = 8 * 60 * 60 * 1000;

/** Stores an entry of a webhook once, however often Meta delivers it. @throws an error if Meta must redeliver the webhook */
export async function receiveEntry(account: string, entry: WebhookEntry): Promise<void> {
  if (entry.kind === "message") await (entry.isEcho ? storeEcho : receiveMessage)(account, entry);
  if (entry.kind === "state") await storeState(account, entry);
  if (entry.kind === "move") await moveLead(account, entry);
}

async function receiveMessage(account: string, message: ReceivedMessage): Promise<void> {
  const { channel, text, metadata } = message;
  const request = toRequest(account, message);
  // A repeated message would move the lead back to an earlier address, or bring an erased lead back.
  if (await readRecorded(request)) return;
  const leadId = await findOrCreateLead(account, message);
  const input = { leadId, channel, direction: "inbound", message: toText(text, 4096, "(no text)") } as const;
  await sendMessage(account, { ...input, metadata }, request);
}

/** The same message is the same request, even if Meta sends it with other content the next time. */
const toRequest = (account: string, { channel, id }: ReceivedMessage) => ({
  ...idempotentRequest(account, "receive-webhook", `${channel} ${id}`, {}),
  lifetime: inboundLifetime,
});

/** Replaces a lead's former number by its new number, unless another lead has the new number. */
const moveLead = (account: string, { channel, lead, address }: MovedLead): Promise<void> =>
  retryBriefly(async () => {
    const both = [address, lead].map((one) => readName(account, addressKey(account, channel, one)));
    const [next, { item }] = (await Promise.all(both)) as [LeadName, LeadName];
    const record = item && ifValid(() => readRecord(validateLead, item));
    if (!record || (next.item && next.item.id !== record.id)) return;
    const moved = [address, lead].map(comparableAddress);
    const own = record.addresses?.[channel] ?? [];
    const others = own.filter((each) => !moved.includes(comparableAddress(each)));
    const addresses = { ...record.addresses, [channel]: [address, ...others] };
    await changeLead(account, item, { ...record, addresses }, [next]);
  });

/**
 * Stores a message that the account has sent on the phone or with another app. Instagram also reports messages that this
 * service has sent. If the response to such a message is late or lost, the message is marked as sent and not sent again.
 */
async function storeEcho(account: string, echo: ReceivedMessage): Promise<void> {
  const { channel, id: providerId, text, metadata } = echo;
  const [to = ""] = echo.addresses;
  const request = toRequest(account, echo);
  if (await readRecorded(request)) return;
  // An echo does not change the lead's addresses: the lead is answered where it wrote last, whatever address the echo has.
  const { item } = await readName(account, addressKey(account, channel, to));
  const leadId = item ? String(item.id) : await findOrCreateLead(account, echo);
  const messages = await readNewestOf(account, leadId, channel);
  if (messages.some((message) => message.providerId === providerId)) return;
  // An echo that is older than all messages read here may belong to a message that was not read.
  const { sentAt = new Date().toISOString() } = metadata;
  const isOld = messages.length >= newest && sentAt < String(messages[0]?.createdAt);
  if (channel === "instagram" && isOld) return;
  const message = toText(text, 4096, "(no text)");
  const own =
    channel === "instagram" &&
    messages.find((each) => isUnsent(each, sentAt) && toText(each.message, 4096, "") === message);
  if (own) {
    const { id, conversationId } = own;
    const stored = await storeDelivery(account, { id, conversationId, delivery: "sent", providerId });
    // If its response came first and has another id, the echo belongs to another message with the same text.
    if (stored && stored.providerId !== providerId) await storeEcho(account, echo);
    return;
  }
  // The echo is no reply to a message that the lead has written since.
  const isReply = !messages.some((each) => each.direction === "inbound" && timeOf(each) > sentAt);
  const input = { leadId, channel, message, metadata, delivery: "sent", providerId, to, isReply } as const;
  await sendMessage(account, input, request);
}

/** When a message was sent according to Meta, or else when it was stored. */
const timeOf = ({ metadata, createdAt }: Message) => metadata?.sentAt ?? createdAt;

/** How far the clocks of Meta and of this service may differ, in milliseconds. */
const clockDifference = 5000;

/** Whether a message is not known to be sent, and may be the one that was sent at a time. */
const isUnsent = (message: Message, sentAt: string) =>
  message.direction === "outbound" &&
  Date.parse(message.createdAt) < Date.parse(sentAt) + clockDifference &&
  message.providerId === undefined &&
  (message.delivery === undefined || isGivenUp(message)) &&
  Date.parse(message.createdAt) > Date.now() - longestWait;

async function storeState(account: string, state: ReportedState): Promise<void> {
  const { delivery, deliveryError } = state;
  for (const each of await findSent(account, state)) {
    const message = await storeDelivery(account, { ...each, delivery, deliveryError });
    if (message) await addAddress(account, message, state);
  }
}

/** Adds WhatsApp's own form of a number, such as without Argentina's 15, because the lead answers from that form. */
async function addAddress(account: string, { leadId, to }: Message, { channel, lead }: ReportedState) {
  if (lead === undefined || to === undefined || comparableAddress(lead) === comparableAddress(to)) return;
  try {
    await createOrUpdateLead(account, { id: leadId, addresses: { [channel]: [lead] } });
  } catch (error) {
    // Another lead has the address, this lead has ten addresses, or this lead has been erased.
    if (!(error instanceof ApiError)) throw error;
  }
}

/**
 * The messages that a state belongs to, with their provider ids. Without callback data, the message is found by its provider
 * id among the newest messages of the lead. A lead that has read a message has also read the earlier ones, which Instagram
 * does not report.
 */
async function findSent(account: string, state: ReportedState) {
  const { channel, lead = "", providerId, delivery, callbackData } = state;
  if (callbackData !== undefined) {
    const ids = readCallbackData(callbackData);
    return ids ? [{ ...ids, providerId }] : [];
  }
  const { leadId } = await readName(account, addressKey(account, channel, lead));
  const messages = await readNewestOf(account, leadId, channel);
  const at = messages.findIndex((message) => message.providerId === providerId);
  return messages
    .slice(0, at + 1)
    .filter((message, n) => n === at || (delivery === "read" && message.delivery === "sent"))
    .map(({ id, conversationId, providerId }) => ({ id, conversationId, providerId }));
}

/** The newest messages of the lead on a channel, in their order: of the active conversation, and of the one before it. */
async function readNewestOf(account: string, leadId: unknown, channel: MetaChannel): Promise<Message[]> {
  if (!isId("lead", leadId)) return [];
  const { formerId, conversationId } = await readLock(account, { leadId, channel });
  const ids = [formerId, conversationId].filter((id) => isId("conv", id));
  return (await Promise.all(ids.map((id) => readNewest(account, id)))).flat();
}
