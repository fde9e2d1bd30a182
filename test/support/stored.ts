const at = "2026-07-10T19:19:05.000Z";

/** A lead as the table has it. */
export const storedLead = (id: string) => ({
  pk: "LEAD#acme",
  sk: id,
  id,
  name: "Ada Lovelace",
  score: 0,
  status: "new",
  tags: [],
  createdAt: at,
});

/** A conversation as the table has it. */
export const storedConversation = (id: string) => ({
  pk: "CONVERSATION#acme",
  sk: id,
  id,
  leadId: "lead_1",
  channel: "whatsapp",
  status: "active",
  lastMessageAt: at,
  messageCount: 1,
});
