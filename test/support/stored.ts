import { conversationItem } from "../../shared/domain/conversations.ts";
import { leadItem } from "../../shared/domain/leads.ts";

const createdAt = "2026-07-10T19:19:05.000Z";

/** A lead item of the account `acme`. */
export const storedLead = (id: string) =>
  leadItem("acme", { id, name: "Ada Lovelace", score: 0, status: "new", tags: [], createdAt });

/** A conversation item of the account `acme`. */
export const storedConversation = (id: string) =>
  conversationItem("acme", {
    ...{ id, leadId: "lead_1", channel: "whatsapp", status: "active" },
    ...{ lastMessageAt: createdAt, messageCount: 1 },
  });
