import { conversationItem, listConversations } from "../../../shared/domain/conversations/conversations.ts";
import { ApiError } from "../../../shared/errors.ts";
import { createdAt, idTimestamp } from "../../../shared/ids.ts";
import { active, type Conversation } from "../../../shared/schemas/conversation-schemas.ts";
import { seeded } from "../../support/random.ts";
import { streamRecord } from "../../support/stream-record.ts";
import { number } from "../markdown.ts";
import { Account } from "./account.ts";
import { buildRows } from "./lead-rows.ts";
import { limit, listCost, readPage } from "./read-list.ts";
import type { Report } from "./report.ts";
import { longName } from "./windows.ts";

const filters = [{}, { status: active }, { channel: "website" }, { channel: "partner" }] as const;

/** Reads lists of conversations in each order. By activity, page 100 is the last one. */
export async function measureOrders(report: Report, sizes: readonly number[]): Promise<void> {
  const table = [];
  for (const conversations of sizes) {
    const rows = buildConversations(conversations);
    const account = new Account(longName, [], rows.map(toItem));
    for (const row of rows.slice(-1))
      account.stream.push(streamRecord(undefined, toItem(row), idTimestamp(row.id)));
    await account.deliver();
    const byActivity = rows.toSorted((a, b) => (a.lastMessageAt < b.lastMessageAt ? -1 : 1));
    for (const [sort, sorted, limits] of [
      ["-createdAt", rows, "conversations"],
      ["createdAt", rows.toReversed(), "conversations, oldest first"],
      ["-lastMessageAt", byActivity, "conversations by activity"],
    ] as const) {
      for (const filter of filters) {
        const matching = sorted.filter((row) =>
          Object.entries(filter).every(([name, value]) => Reflect.get(row, name) === value),
        );
        const name = Object.values(filter).join() || "none";
        const read = listConversations.bind(undefined, longName, { ...filter, sort });
        const costs = [];
        let refused = "";
        for (const page of [1, 10, 50, 100]) {
          if (page > matching.length / limit || refused) continue;
          // Too many rows that do not match.
          const cost = await readPage({ name, rows: matching, read }, page).catch((error: unknown) => {
            if (!(error instanceof ApiError)) throw error;
            refused = ", then 400";
          });
          if (cost) costs.push(cost);
        }
        const cost = listCost(costs);
        if (name === "none") report.check(limits, cost);
        const R = costs.map(({ read }) => number(read)).join(", ") + refused;
        const { calls, trips } = cost;
        const ofPages = { "pages 1, 10, 50, 100: R": R, calls, trips };
        table.push({ conversations, sort, filter: name, "in the list": matching.length, ...ofPages });
      }
    }
  }
  report.section(
    "Conversations in each order",
    "By activity, a filter reads rows of the index and drops them.",
    table,
  );
}

/** Conversations of the same distribution as leads, oldest first: most have had no message for long. */
function buildConversations(size: number): Conversation[] {
  const random = seeded(size);
  const leads = buildRows(size);
  const end = idTimestamp(leads.at(-1)?.id ?? "");
  return leads.map(({ id, status, source }) => ({
    id: id.replace("lead", "conv"),
    leadId: id,
    channel: source,
    status: status === "new" ? active : "closed",
    createdAt: createdAt(id),
    lastMessageAt: new Date(idTimestamp(id) + (end - idTimestamp(id)) * random() ** 3).toISOString(),
    messageCount: 1,
    lastMessage: { direction: "outbound", text: "Hello, may I show you what we have for you?" },
  }));
}

const toItem = (row: Conversation) => conversationItem(longName, row);
