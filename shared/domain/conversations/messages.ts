import { StaleReadError } from "../../dynamodb/dynamodb-errors.ts";
import { activeConversationKey, messageKey } from "../../dynamodb/keys.ts";
import { type Item, tableName } from "../../dynamodb/table-client.ts";
import { withBackoff } from "../../dynamodb/throttling.ts";
import type { TransactItems } from "../../dynamodb/transact.ts";
import { bodyFault, invalidInput } from "../../errors.ts";
import { createdAt, isId, newId } from "../../ids.ts";
import { normalizeLabel } from "../../normalize-label.ts";
import {
  active,
  type Message,
  message as messageSchema,
  type NewMessage,
} from "../../schemas/conversation-schemas.ts";
import { toRecord } from "../../schemas/record.ts";
import {
  type IdempotentRequest,
  runIdempotently,
  transactOnce,
  type WriteOutcome,
} from "../idempotent-replay.ts";
import { keepLead, readRecipient } from "../leads.ts";
import { notFound } from "../not-found.ts";
import { addMessage, maxAhead, readLock, takeLock } from "./active-conversation.ts";
import { conversationItem, summarize } from "./conversations.ts";

/** How long a request with an inbound message is remembered, in seconds: channels retry their webhooks for a week. */
export const inboundLifetime = 8 * 24 * 60 * 60;

/** A message to store. `delivery`, `providerId`, `to` and `isReply` are only of a message that was sent before it is stored. */
type Input = NewMessage & Pick<Message, "delivery" | "providerId" | "to"> & { readonly isReply?: boolean };

/** A message to send, and what failed attempts found out about the conversation that the lock names. */
interface Outgoing {
  readonly account: string;
  readonly input: Input;
  readonly idempotency: IdempotentRequest | undefined;
  /** The lead, if the account has it; read by the first attempt. */
  lead?: Promise<Item | undefined>;
  /** A conversation that the message cannot join: it is no longer active, or not of the lead on the channel. */
  ended?: string | undefined;
  /** The time of the conversation's last message, in milliseconds since the epoch: the next message must be later. */
  lastMessageAt: number;
}

/**
 * Stores a message to or from a lead on a channel. The message joins their active conversation, or starts one.
 *
 * @throws ApiError `lead_not_found`, `invalid_input` for an inbound message with a template, or `idempotency_key_reused`
 * @throws TooManyAtOnceError when other messages to the conversation win
 */
export async function sendMessage(
  account: string,
  message: Input,
  request?: IdempotentRequest,
): Promise<WriteOutcome<Message>> {
  if (message.template && message.direction === "inbound") throw invalidInput([isInbound]);
  // DynamoDB stores no unpaired surrogates, so no lead has one in its id.
  if (!message.leadId.isWellFormed()) throw leadNotFound(message);
  const idempotency =
    request && message.direction === "inbound" ? { ...request, lifetime: inboundLifetime } : request;
  const input = { ...message, channel: normalizeLabel(message.channel) };
  const { pk, sk } = activeConversationKey(account, input.leadId, input.channel);
  return withBackoff(`${pk} ${sk}`, "Too many messages are sent to this conversation at once.", () => {
    const outgoing: Outgoing = { account, input, idempotency, lastMessageAt: 0 };
    return runIdempotently(
      idempotency,
      { id: "msg", conversationId: "conv" },
      (ids) => ({ record: toMessage(ids, input), made: "created" }),
      async () => ({ record: await attemptToSend(outgoing), made: "created" }),
    );
  });
}

async function attemptToSend(outgoing: Outgoing): Promise<Message> {
  const { account, input } = outgoing;
  outgoing.lead ??= readRecipient(account, input.leadId);
  const [lead, { conversationId: named }] = await Promise.all([outgoing.lead, readLock(account, input)]);
  if (!lead) throw leadNotFound(input);
  // If this attempt loses, the lead may have been erased.
  if (lead.undoing) delete outgoing.lead;
  // Nothing is awaited from here to the write, because a message must be written right after the time in its ids.
  if (isId("conv", named) && named !== outgoing.ended) return joinConversation(outgoing, lead, named);
  outgoing.ended = undefined;
  return startConversation(outgoing, lead, named);
}

const isInbound = bodyFault("template", "not_allowed", "can be sent only with an outbound message");

const leadNotFound = ({ leadId }: NewMessage) => notFound("lead", "leadId", leadId);

/** @param named what the lock names: not a conversation that the message may join */
async function startConversation(outgoing: Outgoing, lead: Item, named: unknown): Promise<Message> {
  const { account, input } = outgoing;
  const { leadId, channel } = input;
  const startedAt = Date.now();
  const id = newId("conv", startedAt);
  const message = toMessage({ id: newId("msg", startedAt), conversationId: id }, input);
  const pair = { id, leadId, channel };
  const conversation = { ...pair, status: active, createdAt: createdAt(id), ...summarize([message]) };
  await storeMessage(outgoing, lead, message, [
    ...takeLock(account, pair, named),
    { Put: { TableName: tableName, Item: conversationItem(account, conversation) } },
  ]);
  return message;
}

async function joinConversation(outgoing: Outgoing, lead: Item, conversationId: string): Promise<Message> {
  const { account, input } = outgoing;
  const sentAt = Math.max(Date.now(), outgoing.lastMessageAt + 1);
  const message = toMessage({ id: newId("msg", sentAt), conversationId }, input);
  try {
    await storeMessage(outgoing, lead, message, [addMessage(account, message, input.isReply)]);
  } catch (error) {
    if (error instanceof StaleReadError) {
      const { item } = error;
      const last = typeof item.activeAt === "string" ? Date.parse(item.activeAt) : Number.NaN;
      // Another message came in the same millisecond, or from a writer whose clock is ahead of this clock.
      if (last >= Date.parse(message.createdAt) && last < Date.now() + maxAhead)
        outgoing.lastMessageAt = last;
      else outgoing.ended = conversationId;
    }
    throw error;
  }
  return message;
}

/**
 * Writes a message with the address that it goes to, what changes in its lead, and the other parts of its transaction. The
 * response follows from the request and the message's ids.
 */
function storeMessage(
  { account, input, idempotency }: Outgoing,
  lead: Item,
  message: Message,
  others: TransactItems,
) {
  const { id, conversationId, leadId, channel, direction } = message;
  const to = direction === "inbound" ? undefined : (input.to ?? addressesOn(channel, lead)[0]);
  const Item = { ...messageKey(account, conversationId, id), ...message, to };
  const ofLead = lead.undoing ? [{ Update: keepLead(account, leadId) }] : [];
  const put = { Put: { TableName: tableName, Item } };
  return transactOnce(idempotency, { id, conversationId }, [...others, ...ofLead, put]);
}

/** The addresses of a lead on a channel. The channel is compared as text, because it may be the name of a method. */
const addressesOn = (channel: string, { addresses }: Item): readonly unknown[] =>
  Object.entries(Object(addresses)).flatMap(([name, list]) => (name === channel ? list : []));

const toMessage = (
  { id, conversationId }: Pick<Message, "id" | "conversationId">,
  { direction = "outbound", ...input }: Input,
): Message => toRecord(messageSchema, { id, conversationId, direction, ...input, createdAt: createdAt(id) });
