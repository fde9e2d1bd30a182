import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { ulid } from "ulid";
import { afterAll, describe, expect, test, vi } from "vitest";
import { conversationItem, listConversations } from "../../../../shared/domain/conversations.ts";
import { tableName } from "../../../../shared/dynamodb/table-client.ts";
import { createdAt, newId } from "../../../../shared/ids.ts";
import type { Conversation } from "../../../../shared/schemas/conversation-schemas.ts";
import { WatchedTable } from "../../../support/watched-table.ts";

const table = new WatchedTable();
afterAll(() => void vi.restoreAllMocks());

/** A name as long as a UUID, which each key of an item has. */
const account = "7ab7a31b-38c4-4b4b-9f5f-0a6f2a1c7d5e";

/**
 * Stores the conversations of a lead.
 *
 * @returns the lead, and its conversations, newest first: most on one channel, every fifth on another, and the oldest alone on a third
 */
function putConversations(count: number) {
  const leadId = newId("lead");
  const conversations: Conversation[] = Array.from({ length: count }, (_, i) => ({
    id: `conv_${ulid(1_700_000_000_000 - i * 1000)}`,
    leadId,
    channel: i === count - 1 ? "sms" : i % 5 === 0 ? "instagram" : "whatsapp",
    status: i % 3 === 0 ? "active" : "closed",
    lastMessageAt: "2026-07-10T19:19:05.000Z",
    messageCount: 3,
  }));
  for (const conversation of conversations.toReversed()) {
    const Item = conversationItem(account, conversation);
    table.memory.execute(new PutCommand({ TableName: tableName, Item }));
  }
  return { leadId, conversations };
}

/** Lists, and counts the queries apart from the admission of a long list. */
async function list(...[query, request]: [Parameters<typeof listConversations>[1], page: Request]) {
  const { result, calls, units } = await table.watch(() => listConversations(account, query, request));
  return { result, units, queries: calls.filter(({ name }) => name === "QueryCommand").length };
}

interface Request {
  readonly page: number;
  readonly limit: number;
}

describe.each([
  { count: 0, units: 0.5, queries: 1 },
  { count: 20, units: 1.5, queries: 1 },
  { count: 200, units: 13.5, queries: 1 },
  { count: 1000, units: 65.5, queries: 1 },
  { count: 5000, units: 327, queries: 3 },
])("a list of a lead with $count conversations", ({ count, units, queries }) => {
  const { leadId, conversations } = putConversations(count);

  test.each([
    {},
    { status: "nobodys" },
    { status: "closed" },
    { channel: "instagram" },
    { channel: "sms" },
    { channel: "instagram", status: "active" },
    { channel: "sms", status: "nobodys" },
  ])(`has exact pages for ${units} units in ${queries} queries: %o`, async (filter) => {
    const matching = conversations
      .filter(({ status }) => filter.status === undefined || status === filter.status)
      .filter(({ channel }) => filter.channel === undefined || channel === filter.channel);
    const total = matching.length;
    for (const limit of [1, 20, 100]) {
      const last = Math.max(1, Math.ceil(total / limit));
      for (const page of new Set([1, 2, Math.ceil(last / 2), last, last + 1, last + 1000])) {
        const request = { page, limit };
        expect(await list({ leadId, ...filter }, request)).toEqual({
          result: {
            data: matching.slice((page - 1) * limit, page * limit),
            pagination: { ...request, total },
          },
          ...{ units, queries },
        });
      }
    }
  });
});

test("a window reads only its own conversations", async () => {
  const { leadId, conversations } = putConversations(2000);
  const window = {
    leadId,
    createdAfter: createdAt(`${conversations[299]?.id}`),
    createdBefore: createdAt(`${conversations[99]?.id}`),
  };
  const { result, units } = await list(window, { page: 2, limit: 50 });
  expect(result).toEqual({
    data: conversations.slice(150, 200),
    pagination: { page: 2, limit: 50, total: 200 },
  });
  expect(units).toBe(13.5);
});

test("the lists of a lead with too many conversations fail after twelve queries", async () => {
  const { leadId } = putConversations(25_000);
  await expect(list({ leadId }, { page: 1, limit: 20 })).rejects.toMatchObject({
    name: "TooExpensiveError",
    code: "too_many_calls",
  });
  expect(table.calls.filter(({ name }) => name === "QueryCommand")).toHaveLength(12);
});
