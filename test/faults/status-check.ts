import type { Ledger } from "./ledger.ts";
import type { Stored } from "./stored.ts";

/**
 * What is wrong with the statuses that an operator changed, in sentences: a change that the operator was told of is
 * there, and a conversation that has ended gets no more messages.
 */
export function checkStatuses({ changes }: Ledger, accounts: ReadonlyMap<string, Stored>): string[] {
  const broken: string[] = [];
  for (const { leads, conversations, messages } of accounts.values()) {
    for (const { id, status } of [...leads, ...conversations]) {
      const change = changes.get(id);
      if (change?.acknowledgedAt !== undefined && status !== change.status)
        broken.push(`${id} was made ${change.status}, and is ${status}`);
    }
    for (const { id, conversationId, createdAt } of messages) {
      const ended = changes.get(conversationId)?.acknowledgedAt;
      if (ended !== undefined && Date.parse(createdAt) > ended)
        broken.push(`${id} came when ${conversationId} had ended`);
    }
  }
  return broken;
}
