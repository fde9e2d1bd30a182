import { pairOf, type Stored } from "./stored.ts";

/** What is wrong with the conversations of an account, in sentences. */
export function checkConversations(account: string, stored: Stored): string[] {
  const broken: string[] = [];
  const messages = Map.groupBy(stored.messages, ({ conversationId }) => conversationId);
  const known = new Set(stored.conversations.map(({ id }) => id));
  const leads = new Set(stored.leads.map(({ id }) => id));
  for (const id of messages.keys()) if (!known.has(id)) broken.push(`${id} has messages, but does not exist`);
  for (const conversation of stored.conversations) {
    const { id, leadId, messageCount, lastMessageAt } = conversation;
    const own = messages.get(id) ?? [];
    const strangers = own.filter((message) => pairOf(message) !== pairOf(conversation));
    const last = own
      .map(({ createdAt }) => createdAt)
      .toSorted()
      .at(-1);
    if (!leads.has(leadId)) broken.push(`${id} is of a lead that does not exist`);
    if (strangers.length > 0) broken.push(`${id} has messages of another lead or channel`);
    if (messageCount !== own.length)
      broken.push(`${id} counts ${messageCount} messages, and has ${own.length}`);
    if (lastMessageAt !== last) broken.push(`${id} had its last message at ${last}, not at ${lastMessageAt}`);
  }
  return [...broken, ...checkPointers(stored)].map((fault) => `${account}: ${fault}`);
}

/** At most one conversation of a lead on a channel is active, and that one is found. */
function checkPointers({ conversations, pointers }: Stored): string[] {
  const broken: string[] = [];
  for (const [pair, own] of Map.groupBy(conversations, pairOf)) {
    const named = pointers.get(pair);
    const active = own.filter(({ status }) => status === "active").map(({ id }) => id);
    if (active.length > 1) broken.push(`${pair} has ${active.length} active conversations`);
    if (active[0] !== undefined && active[0] !== named)
      broken.push(`${pair} points to ${named}, not to ${active[0]}`);
    if (!own.some(({ id }) => id === named))
      broken.push(`${pair} points to ${named}, which is none of its own`);
  }
  return broken;
}
