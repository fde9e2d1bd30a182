import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { ulid } from "ulid";
import { afterAll, describe, expect, test, vi } from "vitest";
import { conversationItem, listConversations } from "../../../../shared/domain/conversations.ts";
import { tableName } from "../../../../shared/dynamodb/table-client.ts";
import type { Conversation } from "../../../../shared/schemas/conversation-schemas.ts";
import { WatchedTable } from "../../../support/watched-table.ts";

const table = new WatchedTable();
afterAll(() => void vi.restoreAllMocks());

const account = "acme";
const leadId = `lead_${ulid(0)}`;

/** Conversations, newest first: most on one channel, every fifth on another, and the oldest alone on a third. */
const conversations: Conversation[] = Array.from({ length: 5000 }, (_, i) => ({
  id: `conv_${ulid(1_700_000_000_000 - i * 1000)}`,
  leadId,
  channel: i === 4999 ? "sms" : i % 5 === 0 ? "instagram" : "whatsapp",
  status: i % 3 === 0 ? "active" : "closed",
  lastMessageAt: "2026-07-10T19:19:05.000Z",
  messageCount: 3,
}));
for (const conversation of conversations) {
  const Item = conversationItem(account, conversation);
  table.memory.execute(new PutCommand({ TableName: tableName, Item }));
}

describe.each([
  {},
  { status: "nobodys" },
  { status: "closed" },
  { channel: "instagram" },
  { channel: "sms" },
  { channel: "instagram", status: "active" },
  { channel: "sms", status: "nobodys" },
])("of a lead with 5,000 conversations, %o", (filter) => {
  const matching = conversations
    .filter(({ status }) => filter.status === undefined || status === filter.status)
    .filter(({ channel }) => filter.channel === undefined || channel === filter.channel);
  const total = matching.length;

  describe.each([1, 20, 100])("by %i", (limit) => {
    const last = Math.max(1, Math.ceil(total / limit));

    test.each([
      1,
      2,
      Math.ceil(last / 2),
      last - 1,
      last,
      last + 1,
      last + 1000,
    ])("page %i is exact and takes at most twelve calls", async (page) => {
      const request = { page: Math.max(1, page), limit };
      const { result, calls } = await table.watch(() =>
        listConversations(account, { leadId, ...filter }, request),
      );
      expect(result).toEqual({
        data: matching.slice((request.page - 1) * limit, request.page * limit),
        pagination: { ...request, total },
      });
      expect(calls.length).toBeLessThanOrEqual(12);
    });
  });
});
