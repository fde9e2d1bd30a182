import { DynamoDBDocumentClient, paginateScan } from "@aws-sdk/lib-dynamodb";
import { engineClient } from "../../lib/local/engine/dynamodb-client.ts";
import { itemTypes } from "../../shared/dynamodb/keys.ts";
import type { Conversation, Message } from "../../shared/schemas/conversation-schemas.ts";
import type { Lead } from "../../shared/schemas/lead-schemas.ts";

/** Everything that the table holds of an account. */
export interface Stored {
  readonly leads: Lead[];
  readonly conversations: Conversation[];
  readonly messages: Message[];
  /** The conversations that the pointers name, by lead and channel. */
  readonly pointers: Map<string, string>;
}

/** Identifies the conversations of a lead on a channel. */
export const pairKey = ({ leadId, channel }: { leadId: string; channel: string }) => `${leadId} ${channel}`;

/** Reads what the table holds of an account, directly from the engine. */
export async function readStored(engine: string, TableName: string, account: string): Promise<Stored> {
  const client = DynamoDBDocumentClient.from(engineClient(engine));
  const stored: Stored = { leads: [], conversations: [], messages: [], pointers: new Map() };
  try {
    for await (const { Items = [] } of paginateScan({ client }, { TableName }))
      for (const item of Items) sort(item, account, stored);
  } finally {
    client.destroy();
  }
  return stored;
}

function sort(item: Record<string, unknown>, of: string, stored: Stored): void {
  const [type, account, leadId = ""] = String(item.pk).split("#").map(decodeURIComponent);
  if (account !== of) return;
  if (type === itemTypes.lead) stored.leads.push(item as unknown as Lead);
  if (type === itemTypes.conversation) stored.conversations.push(item as unknown as Conversation);
  if (type === itemTypes.message) stored.messages.push(item as unknown as Message);
  if (type === itemTypes.active)
    stored.pointers.set(pairKey({ leadId, channel: String(item.sk) }), String(item.conversationId));
}
