import { conversationItem, listConversations } from "../../../shared/domain/conversations/conversations.ts";
import { createdAt, idTimestamp } from "../../../shared/ids.ts";
import { lastPage } from "../../../shared/pages/page.ts";
import {
  active,
  type Conversation,
  type ConversationsQuery,
} from "../../../shared/schemas/conversation-schemas.ts";
import { seeded } from "../../support/cases/random.ts";
import { check, type Limits } from "../report.ts";
import { Account } from "./account.ts";
import { buildRows } from "./lead-rows.ts";
import { type List, limit, readList } from "./read-pages.ts";

/** An account's name, as long as a UUID, because it is part of each key of an item. */
export const longName = "7ab7a31b-38c4-4b4b-9f5f-0a6f2a1c7d5e";

const size = 100_000;

/** One in this many conversations is with the same lead. */
const ofOneLead = 500;

/** Reads lists of conversations in each order. By activity, page 100 is the last one. */
export async function measureConversations() {
  const oldestFirst = buildConversations();
  const toItem = (row: Conversation) => conversationItem(longName, row);
  await new Account(longName, [], oldestFirst.map(toItem)).deliver();
  const byActivity = oldestFirst.toSorted((a, b) => (a.lastMessageAt < b.lastMessageAt ? -1 : 1));
  const sort = "-lastMessageAt";
  const since = (count: number) => byActivity.at(-count)?.lastMessageAt ?? "";
  const now = new Date(Date.now()).toISOString();
  const cases: readonly (readonly [list: string, ConversationsQuery, Limits?])[] = [
    ["all", {}, { worst: 17, trips: 4 }],
    ["active", { status: active }],
    ["website", { channel: "website" }],
    ["partner", { channel: "partner" }],
    ["of one lead", { leadId: oldestFirst[0]?.leadId ?? "" }],
    ["all, oldest first", { sort: "createdAt" }, { worst: 17, trips: 4 }],
    // This list ends after 2,000 rows of 308 bytes in the index: each has the beginning of its last message.
    ["all, by activity", { sort }, { worst: 80, trips: 1 }],
    ["active, by activity", { sort, status: active }],
    ["website, by activity", { sort, channel: "website" }],
    ["with a message since a moment ago", { sort, lastMessageAfter: now }],
    ["with a message since the newest 1,000", { sort, lastMessageAfter: since(1000) }],
  ];
  const lists = [];
  for (const [list, query, limits] of cases) {
    const { sort, lastMessageAfter = "", ...fields } = query;
    const rows = sort === "createdAt" ? oldestFirst.toReversed() : sort ? byActivity : oldestFirst;
    const matching = rows.filter(
      (row) =>
        row.lastMessageAt >= lastMessageAfter &&
        Object.entries(fields).every(([name, value]) => Reflect.get(row, name) === value),
    );
    const read: List["read"] = (request) => listConversations(longName, { ...query, ...request });
    const cells = await readList({ rows: matching, read }, lastPage(query, limit));
    check(`conversations ${list}`, cells, limits);
    lists.push({ conversations: size, list, ...cells });
  }
  return lists;
}

/** Conversations with the same distribution as leads, oldest first: most have had no message for a long time. */
function buildConversations(): Conversation[] {
  const random = seeded(size);
  const leads = buildRows(size);
  const end = idTimestamp(leads.at(-1)?.id ?? "");
  return leads.map(({ id, status, source }, n) => ({
    id: id.replace("lead", "conv"),
    leadId: (n % ofOneLead === 0 && leads[0]?.id) || id,
    channel: source,
    status: status === "new" ? active : "closed",
    createdAt: createdAt(id),
    lastMessageAt: new Date(idTimestamp(id) + (end - idTimestamp(id)) * random() ** 3).toISOString(),
    messageCount: 1,
    lastMessage: { direction: "outbound", text: "Hello, may I show you what we have for you?" },
  }));
}
