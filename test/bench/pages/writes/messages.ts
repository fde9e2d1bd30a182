import { GetCommand } from "@aws-sdk/lib-dynamodb";
import { sendMessage } from "../../../../shared/domain/send-message.ts";
import { conversationKey } from "../../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../../shared/dynamodb/table-client.ts";
import type { Message } from "../../../../shared/schemas/conversation-schemas.ts";
import { metered } from "../../../support/meter.ts";
import { changeRecord } from "../items.ts";
import type { Population } from "../population.ts";
import type { Change } from "./writing.ts";

/** How long a message may take, in milliseconds. */
const timeout = 10_000;

/** Sends a message to one lead after another, on a channel that is new to each. */
export function startConversations(population: Population): () => Promise<Change> {
  const rows = population.matching({}).values();
  return () => send(population.account, rows.next().value?.id, "email");
}

/** Sends messages to one lead: all but the first join a conversation. */
export async function joinConversation(population: Population): Promise<() => Promise<Change>> {
  const leadId = population.matching({}).at(-1)?.id;
  const { conversationId } = await sendTo(population.account, leadId, "chat");
  return () => send(population.account, leadId, "chat", conversationId);
}

/** Sends without an Idempotency-Key, so no response is a replay. */
const sendTo = (account: string, leadId = "", channel: string) =>
  sendMessage(
    account,
    { leadId, channel, message: "When can we talk?" },
    Date.now() + timeout,
  ) as Promise<Message>;

async function send(
  account: string,
  leadId: string | undefined,
  channel: string,
  joined?: string,
): Promise<Change> {
  const before = joined === undefined ? undefined : await conversation(account, joined);
  const { result, calls } = await metered(() => sendTo(account, leadId, channel));
  const after = await conversation(account, result.conversationId);
  return { calls, records: [changeRecord(before, after)] };
}

async function conversation(account: string, id: string): Promise<Record<string, unknown>> {
  const Key = conversationKey(account, id);
  const { Item = {} } = await table.send(new GetCommand({ TableName: tableName, Key, ConsistentRead: true }));
  return Item;
}
