import { pairKey, type Stored } from "./stored.ts";

/** Checks the stored conversations of an account. @returns the faults, in sentences */
export function checkConversations(account: string, stored: Stored): string[] {
  const violations: string[] = [];
  const messages = Map.groupBy(stored.messages, ({ conversationId }) => conversationId);
  const ids = new Set(stored.conversations.map(({ id }) => id));
  const leads = new Set(stored.leads.map(({ id }) => id));
  for (const id of messages.keys())
    if (!ids.has(id)) violations.push(`${id} has messages but does not exist`);
  for (const conversation of stored.conversations) {
    const { id, leadId, messageCount, lastMessageAt } = conversation;
    const members = messages.get(id) ?? [];
    const strangers = members.filter((message) => pairKey(message) !== pairKey(conversation));
    const last = members
      .map(({ createdAt }) => createdAt)
      .toSorted()
      .at(-1);
    if (!leads.has(leadId)) violations.push(`${id} belongs to a lead that does not exist`);
    if (strangers.length > 0) violations.push(`${id} has messages of another lead or channel`);
    if (messageCount !== members.length)
      violations.push(`${id} counts ${messageCount} messages but has ${members.length}`);
    if (lastMessageAt !== last)
      violations.push(`${id} had its last message at ${last}, not at ${lastMessageAt}`);
  }
  return [...violations, ...checkPointers(stored)].map((fault) => `${account}: ${fault}`);
}

/** Checks that at most one conversation of a lead and channel is active, and that the pointer names it. */
function checkPointers({ conversations, pointers }: Stored): string[] {
  const violations: string[] = [];
  for (const [pair, candidates] of Map.groupBy(conversations, pairKey)) {
    const named = pointers.get(pair);
    const active = candidates.filter(({ status }) => status === "active").map(({ id }) => id);
    if (active.length > 1) violations.push(`${pair} has ${active.length} active conversations`);
    if (active[0] !== undefined && active[0] !== named)
      violations.push(`${pair} points to ${named}, not to ${active[0]}`);
    if (!candidates.some(({ id }) => id === named))
      violations.push(`${pair} points to ${named}, which belongs to another pair`);
  }
  return violations;
}
