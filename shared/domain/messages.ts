import { activeConversationKey, conversationKey, messageKey } from "../dynamodb/keys.ts";
import { StaleReadError, withRetry } from "../dynamodb/retry.ts";
import { tableName } from "../dynamodb/table-client.ts";
import { transact } from "../dynamodb/transact.ts";
import { ApiError } from "../errors.ts";
import { createdAt, newId } from "../ids.ts";
import type { Message, NewMessage } from "../schemas.ts";
import { activeConversation, pointerNames } from "./active-pointer.ts";
import { conversationItem, isNotActive } from "./conversations.ts";
import {
  type IdempotentRequest,
  putRecord,
  type Replayed,
  runIdempotently,
  throwIfRecorded,
} from "./idempotency.ts";
import { leadExists } from "./leads.ts";

/** What failed attempts taught about the conversation that the pointer names. */
interface Learned {
  /** It is no longer active. */
  ended?: string | undefined;
  /** The time of its last message, in milliseconds since the epoch; the next message is not older. */
  lastMessageAt: number;
}

/** A message to be sent. */
interface Sending {
  readonly account: string;
  readonly input: NewMessage;
  /** What makes it be sent once, if the caller cares. */
  readonly request: IdempotentRequest | undefined;
}

/**
 * Sends a message to a lead on a channel: it joins the active conversation of the two, or starts one.
 *
 * @param deadline in milliseconds since the epoch
 * @param request what makes it happen once, if the caller cares
 * @throws ApiError `lead_not_found`, `idempotency_key_reused`, or `busy` when other writers stood in the way until
 *   the deadline
 */
export async function sendMessage(
  account: string,
  input: NewMessage,
  deadline: number,
  request?: IdempotentRequest,
): Promise<Message | Replayed<Message>> {
  // The table takes no unpaired surrogates, so no lead has one in its id.
  if (!input.leadId.isWellFormed()) throw leadNotFound();
  const sending: Sending = { account, input, request };
  const exists = leadExists(account, input.leadId);
  const learned: Learned = { lastMessageAt: 0 };
  return runIdempotently(
    request,
    (ids: MessageIds) => toMessage(ids, input),
    () =>
      withRetry(deadline, async () => {
        const [found, active] = await Promise.all([exists, activeConversation(account, input)]);
        if (!found) return refuse(sending);
        if (active !== undefined && active !== learned.ended)
          return joinConversation(sending, active, learned);
        learned.ended = undefined;
        return startConversation(sending, active);
      }),
  );
}

/** A message that was sent stays sent, even when its lead is deleted later. */
async function refuse({ request }: Sending): Promise<never> {
  if (request) await throwIfRecorded(request);
  throw leadNotFound();
}

const leadNotFound = () => new ApiError("lead_not_found", "This account has no lead with this leadId.");

/** @param ended the conversation that the pointer still names, if any */
async function startConversation({ account, input, request }: Sending, ended?: string): Promise<Message> {
  const { leadId, channel } = input;
  const id = newId("conv");
  const message = newMessageIn(id, input);
  const lastMessageAt = message.createdAt;
  const conversation = { id, leadId, channel, status: "active", lastMessageAt, messageCount: 1 };
  await transact(
    [
      {
        Put: {
          TableName: tableName,
          Item: { ...activeConversationKey(account, leadId, channel), conversationId: id },
          ...pointerNames(ended),
        },
      },
      ...(ended === undefined ? [] : [isNotActive(account, ended)]),
      { Put: { TableName: tableName, Item: conversationItem(account, conversation) } },
      putMessage(account, message),
    ],
    request && putRecord(request, pickIds(message)),
  );
  return message;
}

async function joinConversation(
  { account, input, request }: Sending,
  conversationId: string,
  learned: Learned,
): Promise<Message> {
  const message = newMessageIn(conversationId, input, learned.lastMessageAt);
  try {
    await transact(
      [addMessage(account, message), putMessage(account, message)],
      request && putRecord(request, pickIds(message)),
    );
  } catch (error) {
    if (error instanceof StaleReadError) learn(learned, conversationId, error.item);
    throw error;
  }
  return message;
}

function learn(learned: Learned, conversationId: string, { status, lastMessageAt }: StaleReadError["item"]) {
  if (status === "active") learned.lastMessageAt = Date.parse(String(lastMessageAt));
  else learned.ended = conversationId;
}

type MessageIds = Pick<Message, "id" | "conversationId">;

const pickIds = ({ id, conversationId }: Message): MessageIds => ({ id, conversationId });

const toMessage = (
  { id, conversationId }: MessageIds,
  { leadId, channel, message }: NewMessage,
): Message => ({
  ...{ id, conversationId, leadId, channel, message },
  createdAt: createdAt(id),
});

/** A message made now, or at `notBefore` if that is later. */
const newMessageIn = (conversationId: string, input: NewMessage, notBefore = 0) =>
  toMessage({ id: newId("msg", Math.max(Date.now(), notBefore)), conversationId }, input);

const addMessage = (account: string, { conversationId, createdAt }: Message) => ({
  Update: {
    TableName: tableName,
    Key: conversationKey(account, conversationId),
    UpdateExpression: "SET lastMessageAt = :at ADD messageCount :one",
    // Writers' clocks differ: without the second condition lastMessageAt could go back.
    ConditionExpression: "#status = :active AND lastMessageAt <= :at",
    ExpressionAttributeNames: { "#status": "status" },
    ExpressionAttributeValues: { ":active": "active", ":at": createdAt, ":one": 1 },
    ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const,
  },
});

const putMessage = (account: string, message: Message) => ({
  Put: {
    TableName: tableName,
    Item: { ...messageKey(account, message.conversationId, message.id), ...message },
  },
});
