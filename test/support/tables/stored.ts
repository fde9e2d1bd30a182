import { conversationItem } from "../../../shared/domain/conversations/conversations.ts";
import { leadItem } from "../../../shared/domain/leads.ts";
import { createdAt as creationTime, isId, newId } from "../../../shared/ids.ts";
import type { Conversation } from "../../../shared/schemas/conversation-schemas.ts";
import type { Lead } from "../../../shared/schemas/lead-schemas.ts";
import type { MemoryTable } from "../memory-table/memory-table.ts";

/** A well-formed id, ending with a number of one digit. */
export const idOf = (prefix: "lead" | "conv" | "msg", n: number) => `${prefix}_01JZ${"0".repeat(21)}${n}`;

const createdAt = "2026-07-10T19:19:05.000Z";

/** A lead item. */
export function storedLead(id: string, account = "acme", fields: Partial<Lead> = {}) {
  const lead = { id, name: "Ada Lovelace", score: 0, status: "new" } as const;
  const startedAt = isId("lead", id) ? creationTime(id) : createdAt;
  return leadItem(account, { ...lead, tags: [], createdAt: startedAt, ...fields });
}

/**
 * Writes leads, a second apart.
 *
 * @param of the fields that a test sets in the i-th lead
 * @param start the creation time of the first lead
 * @returns their items
 */
export function putLeads(
  memory: MemoryTable,
  account: string,
  count: number,
  of: (i: number) => Partial<Lead> = () => ({}),
  start = Date.now() - 10_000_000,
) {
  const items = Array.from({ length: count }, (_, i) =>
    storedLead(newId("lead", start + i * 1000), account, of(i)),
  );
  for (const item of items) memory.put(item);
  return items;
}

/** A conversation with one outbound message, sent when it was created. */
export function startedConversation(id: string, fields: Partial<Conversation> = {}): Conversation {
  const startedAt = isId("conv", id) ? creationTime(id) : createdAt;
  return {
    ...{ id, leadId: "lead_1", channel: "whatsapp", status: "active" },
    ...{ createdAt: startedAt, lastMessageAt: startedAt, messageCount: 1 },
    lastMessage: { direction: "outbound", text: "Hello" },
    ...fields,
  };
}

/** A conversation item of the account `acme`. */
export const storedConversation = (id: string) => conversationItem("acme", startedConversation(id));
