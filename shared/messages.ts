import { GetCommand } from "@aws-sdk/lib-dynamodb";
import { pointerNames } from "./active-pointer.ts";
import { conversationItem, isNotActive } from "./conversations.ts";
import { ApiError } from "./errors.ts";
import { createdAt, newId } from "./ids.ts";
import { activeConversationKey, conversationKey, messageKey } from "./keys.ts";
import { leadExists } from "./leads.ts";
import { retried, StaleReadError } from "./retry.ts";
import type { Message, NewMessage } from "./schemas.ts";
import { table, tableName } from "./table.ts";
import { transact } from "./transact.ts";

/** What failed attempts taught about the conversation that the pointer names. */
interface Learned {
  /** It is no longer active. */
  ended?: string | undefined;
  /** The time of its last message, in milliseconds since the epoch; the next message is not older. */
  lastMessageAt: number;
}

/**
 * Sends a message to a lead on a channel: it joins the active conversation of the two, or starts one.
 *
 * @param deadline in milliseconds since the epoch
 * @throws ApiError `lead_not_found`, or `busy` when other writers stood in the way until the deadline
 */
export async function sendMessage(account: string, input: NewMessage, deadline: number): Promise<Message> {
  // The table takes no unpaired surrogates, so no lead has one in its id.
  if (!input.leadId.isWellFormed()) throw leadNotFound();
  const exists = leadExists(account, input.leadId);
  const learned: Learned = { lastMessageAt: 0 };
  return retried(deadline, async () => {
    const [found, active] = await Promise.all([exists, activeConversation(account, input)]);
    if (!found) throw leadNotFound();
    if (active !== undefined && active !== learned.ended)
      return joinConversation(account, input, active, learned);
    learned.ended = undefined;
    return startConversation(account, input, active);
  });
}

const leadNotFound = () => new ApiError("lead_not_found", "This account has no lead with this leadId.");

/** The conversation that the pointer names, which may have ended. */
async function activeConversation(
  account: string,
  { leadId, channel }: NewMessage,
): Promise<string | undefined> {
  const { Item } = await table.send(
    new GetCommand({
      TableName: tableName,
      Key: activeConversationKey(account, leadId, channel),
      ConsistentRead: true,
    }),
  );
  return Item?.conversationId;
}

/** @param ended the conversation that the pointer still names, if any */
async function startConversation(account: string, input: NewMessage, ended?: string): Promise<Message> {
  const { leadId, channel } = input;
  const id = newId("conv");
  const message = messageIn(id, input);
  const lastMessageAt = message.createdAt;
  const conversation = { id, leadId, channel, status: "active", lastMessageAt, messageCount: 1 };
  await transact([
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
  ]);
  return message;
}

async function joinConversation(
  account: string,
  input: NewMessage,
  conversationId: string,
  learned: Learned,
): Promise<Message> {
  const message = messageIn(conversationId, input, learned.lastMessageAt);
  try {
    await transact([
      {
        Update: {
          TableName: tableName,
          Key: conversationKey(account, conversationId),
          UpdateExpression: "SET lastMessageAt = :at ADD messageCount :one",
          // Writers' clocks differ: without the second condition lastMessageAt could go back.
          ConditionExpression: "#status = :active AND lastMessageAt <= :at",
          ExpressionAttributeNames: { "#status": "status" },
          ExpressionAttributeValues: { ":active": "active", ":at": message.createdAt, ":one": 1 },
          ReturnValuesOnConditionCheckFailure: "ALL_OLD",
        },
      },
      putMessage(account, message),
    ]);
  } catch (error) {
    if (error instanceof StaleReadError) learn(learned, conversationId, error.item);
    throw error;
  }
  return message;
}

function learn(learned: Learned, conversationId: string, { status, lastMessageAt }: StaleReadError["item"]) {
  if (status?.S === "active" && lastMessageAt?.S) learned.lastMessageAt = Date.parse(lastMessageAt.S);
  else learned.ended = conversationId;
}

/** A message made now, or at `notBefore` if that is later. */
function messageIn(conversationId: string, { leadId, channel, message }: NewMessage, notBefore = 0): Message {
  const id = newId("msg", Math.max(Date.now(), notBefore));
  return { id, conversationId, leadId, channel, message, createdAt: createdAt(id) };
}

const putMessage = (account: string, message: Message) => ({
  Put: {
    TableName: tableName,
    Item: { ...messageKey(account, message.conversationId, message.id), ...message },
  },
});
