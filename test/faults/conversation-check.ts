import { pairKey, type Stored } from "./stored.ts";

/** Checks the stored conversations of an account. @returns the faults, in sentences */
export function checkConversations({ leads, conversations, messages, pointers }: Stored): string[] {
  const violations: string[] = [];
  const byConversation = Map.groupBy(messages, ({ conversationId }) => conversationId);
  const ids = new Set(conversations.map(({ id }) => id));
  for (const id of byConversation.keys())
    if (!ids.has(id)) violations.push(`${id} has messages but does not exist`);
  const leadIds = new Set(leads.map(({ id }) => id));
  for (const conversation of conversations) {
    const { id, leadId, messageCount, lastMessageAt } = conversation;
    const members = byConversation.get(id) ?? [];
    const strangers = members.filter((message) => pairKey(message) !== pairKey(conversation));
    const last = members
      .map(({ createdAt }) => createdAt)
      .toSorted()
      .at(-1);
    if (!leadIds.has(leadId)) violations.push(`${id} belongs to a lead that does not exist`);
    if (strangers.length > 0) violations.push(`${id} has messages of another lead or channel`);
    if (messageCount !== members.length)
      violations.push(`${id} counts ${messageCount} messages but has ${members.length}`);
    if (lastMessageAt !== last)
      violations.push(`${id} had its last message at ${last}, not at ${lastMessageAt}`);
  }
  // At most one conversation of a lead and channel is active, and the pointer names it.
  for (const [pair, candidates] of Map.groupBy(conversations, pairKey)) {
    const active = candidates.filter(({ status }) => status === "active").map(({ id }) => id);
    const named = pointers.get(pair);
    if (active.length !== 1 || active[0] !== named)
      violations.push(`${pair} points to ${named}; ${active.join(" and ")} are active`);
  }
  return violations;
}
