import type { Ledger } from "./ledger.ts";
import type { Stored } from "./stored.ts";

/**
 * Checks the statuses that an operator changed: a confirmed change is stored, and a closed conversation gets no more
 * messages.
 *
 * @returns the faults, in sentences
 */
export function checkStatuses({ changes }: Ledger, accounts: ReadonlyMap<string, Stored>): string[] {
  const violations: string[] = [];
  for (const { leads, conversations, messages } of accounts.values()) {
    for (const { id, status } of [...leads, ...conversations]) {
      const change = changes.get(id);
      if (change?.acknowledgedAt !== undefined && status !== change.status)
        violations.push(`${id} was changed to ${change.status}, but is ${status}`);
    }
    for (const { id, conversationId, createdAt } of messages) {
      const closedAt = changes.get(conversationId)?.acknowledgedAt;
      if (closedAt !== undefined && Date.parse(createdAt) > closedAt)
        violations.push(`${id} joined ${conversationId} after it was closed`);
    }
  }
  return violations;
}
