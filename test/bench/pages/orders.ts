import { conversationItem, listConversations } from "../../../shared/domain/conversations/conversations.ts";
import { ApiError } from "../../../shared/errors.ts";
import { createdAt, idTimestamp } from "../../../shared/ids.ts";
import { active, type Conversation } from "../../../shared/schemas/conversation-schemas.ts";
import { seeded } from "../../support/cases/random.ts";
import { streamRecord } from "../../support/tables/stream-record.ts";
import { number } from "../markdown.ts";
import { Account } from "./account.ts";
import { buildRows } from "./lead-rows.ts";
import type { Cost } from "./metered-table.ts";
import { type List, limit, listCost, readPage } from "./read-list.ts";
import type { Report } from "./report.ts";
import { longName } from "./windows.ts";

const allFilters = [{}, { status: active }, { channel: "website" }, { channel: "partner" }] as const;

/** Reads lists of conversations in each order. By activity, page 100 is the last one. */
export async function measureOrders(report: Report, conversations: number): Promise<void> {
  const table = [];
  const rows = buildConversations(conversations);
  const account = new Account(longName, [], rows.map(toItem));
  for (const row of rows.slice(-1))
    account.stream.push(streamRecord(undefined, toItem(row), idTimestamp(row.id)));
  await account.deliver();
  const byActivity = rows.toSorted((a, b) => (a.lastMessageAt < b.lastMessageAt ? -1 : 1));
  for (const [sort, sorted, limits, filters] of [
    ["-createdAt", rows, "conversations", allFilters],
    ["createdAt", rows.toReversed(), "conversations, oldest first", [{}]],
    ["-lastMessageAt", byActivity, "conversations by activity", allFilters],
  ] as const) {
    for (const filter of filters) {
      const matching = sorted.filter((row) =>
        Object.entries(filter).every(([name, value]) => Reflect.get(row, name) === value),
      );
      const name = Object.values(filter).join() || "none";
      const read = listConversations.bind(undefined, longName, { ...filter, sort });
      const { costs, refused } = await readPages({ name, rows: matching, read });
      const cost = listCost(costs);
      if (name === "none") report.check(limits, cost);
      addRequests(report, `${sort} ${name}`, costs);
      const R = costs.map(({ read }) => number(read)).join(", ") + refused;
      const ofPages = { "pages 1, 10, 50, 100: R": R, calls: cost.calls, trips: cost.trips };
      table.push({ sort, filter: name, "in the list": matching.length, ...ofPages });
    }
  }
  await readTimes(report, byActivity);
  report.section(
    "Conversations in each order",
    `Of ${number(conversations)} conversations. By activity, a filter reads rows of the index and drops them.`,
    table,
  );
}

/** Reads some pages of a list, up to one that is refused because too many rows do not match. */
async function readPages(list: List) {
  const costs: Cost[] = [];
  for (const page of [1, 10, 50, 100]) {
    if (page > list.rows.length / limit) continue;
    try {
      costs.push(await readPage(list, page));
    } catch (error) {
      if (error instanceof ApiError) return { costs, refused: ", then 400" };
      throw error;
    }
  }
  return { costs, refused: "" };
}

/** Adds what requests for lists of a kind cost. */
function addRequests(report: Report, list: string, costs: readonly Cost[]): void {
  const reads = costs.map(({ read }) => read);
  if (list === `-createdAt ${active}`)
    report.request(`Any page of ${limit} conversations with a filter`, { W: 0, R: Math.max(...reads) });
  if (list === "-lastMessageAt none")
    report.request("First page of conversations by activity", { W: 0, R: reads[0] ?? Number.NaN });
}

/** Reads windows that begin or end some rows before the newest one. */
async function readTimes(report: Report, byActivity: readonly Conversation[]): Promise<void> {
  const results = [];
  for (const since of [0, 1000, 4000]) {
    const cut = byActivity.length - since;
    const time = byActivity[cut]?.lastMessageAt ?? new Date(Date.now()).toISOString();
    const read = async (window: "lastMessageAfter" | "lastMessageBefore", rows: List["rows"]) => {
      const query = { sort: "-lastMessageAt", [window]: time } as const;
      return (
        await readPage({ name: window, rows, read: listConversations.bind(undefined, longName, query) }, 1)
      ).read;
    };
    const [after, before] = [
      await read("lastMessageAfter", byActivity.slice(cut)),
      await read("lastMessageBefore", byActivity.slice(0, cut)),
    ];
    if (since === 0)
      report.request("Leads that were changed, or conversations with a message, since a moment ago", {
        W: 0,
        R: after,
      });
    results.push({ "rows since": since, "`lastMessageAfter`: R": after, "`lastMessageBefore`: R": before });
  }
  report.section(
    "Times of changes",
    `The first page by activity of ${number(byActivity.length)} conversations, with one end of a window.`,
    results,
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
