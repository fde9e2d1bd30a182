import {
  activeConversationKey,
  leadConversationsPartition,
  leadEmailPartition,
  messageKey,
} from "../../../shared/dynamodb/keys.ts";
import type { Item, Key } from "../../../shared/dynamodb/table-client.ts";
import { countedLists } from "../../../shared/pages/tree/counted-list.ts";
import type { Pace } from "../common/pace.ts";
import { inPartition, keysOnly, queryItems } from "../common/read-items.ts";
import { readRowsByParent } from "./rows-by-parent.ts";

/** The items of the leads with an email address, in any letter case, oldest first. */
export const readLeadsByEmail = (account: string, email: string, pace: Pace) =>
  readRowsByParent({ account, list: countedLists.lead }, leadEmailPartition(account, email), pace);

/** The items of all conversations of a lead, oldest first. */
export const readLeadConversations = (account: string, leadId: string, pace: Pace) =>
  readRowsByParent(
    { account, list: countedLists.conversation },
    leadConversationsPartition(account, leadId),
    pace,
  );

/** The pointers to the active conversations of a lead. */
export async function readPointers(account: string, leadId: string, pace: Pace): Promise<Item[]> {
  const pointers: Item[] = [];
  const { pk } = activeConversationKey(account, leadId, "");
  for await (const items of queryItems(inPartition(pk), pace)) pointers.push(...items);
  return pointers;
}

/** The items of the messages of a conversation, oldest first. */
export const readMessages = (account: string, conversationId: string, pace: Pace) =>
  queryItems(inPartition(messageKey(account, conversationId, "").pk), pace);

/** The keys of the messages of a conversation. */
export async function* readMessageKeys(
  account: string,
  conversationId: string,
  pace: Pace,
): AsyncGenerator<readonly Key[]> {
  const { pk } = messageKey(account, conversationId, "");
  for await (const items of queryItems({ ...inPartition(pk), ...keysOnly }, pace))
    yield items as unknown as readonly Key[];
}
