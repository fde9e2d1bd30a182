import { conversationItem } from "../../../shared/domain/conversations/conversations.ts";
import { leadItem } from "../../../shared/domain/leads.ts";
import { createdAt as creationTime, isId } from "../../../shared/ids.ts";
import type { Conversation } from "../../../shared/schemas/conversation-schemas.ts";

/** A well-formed id, ending with a number of one digit. */
export const idOf = (prefix: "lead" | "conv" | "msg", n: number) => `${prefix}_01JZ${"0".repeat(21)}${n}`;

const createdAt = "2026-07-10T19:19:05.000Z";

/** A lead item. */
export const storedLead = (id: string, account = "acme") =>
  leadItem(account, { id, name: "Ada Lovelace", score: 0, status: "new", tags: [], createdAt });

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
