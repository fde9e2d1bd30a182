import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { conversationItem, listConversations } from "../../../shared/domain/conversations.ts";
import { tableName } from "../../../shared/dynamodb/table-client.ts";
import { createdAt, newId } from "../../../shared/ids.ts";
import { active } from "../../../shared/schemas/conversation-schemas.ts";
import { seeded } from "../../support/random.ts";
import { Account } from "./account.ts";
import { advanceClock } from "./clock.ts";
import { buildRows, type LeadRow, type RowFilter, rowItem } from "./lead-rows.ts";
import { type List, leadList, limit, listCost, readPage } from "./read-list.ts";
import { both, type Report } from "./report.ts";
import { filters } from "./sizes.ts";

/** How many windows of a list are read, and about how many leads by id and by email address. */
const windows = 60;

/** Reads windows between random rows of lists, beside pages of the lists themselves, and single leads. */
export async function measureWindows(report: Report, sizes: readonly number[]): Promise<void> {
  const table = [];
  for (const leads of sizes) {
    const account = new Account("windows", buildRows(leads));
    await account.count();
    for (const filter of filters) {
      if (account.matching(filter).length <= 5 * limit) continue;
      for (const row of await readWindows(report, account, filter)) table.push({ leads, ...row });
    }
    const some = account.rows.filter((_, n) => n % Math.floor(leads / windows) === 0);
    const emailOf = (row: LeadRow) => rowItem(account.name, row).details.email;
    for (const [filter, lists] of [
      ["id", some.map((row) => leadList(account, { id: [row.id] }, [row]))],
      ["email", some.map((row) => leadList(account, { email: emailOf(row) }, [row]))],
    ] as const) {
      const cost = await readEach(lists, () => 1);
      report.check("lead by id or email", cost);
      table.push({ leads, filter, page: "first", R: both(cost), calls: cost.calls, trips: cost.trips });
    }
  }
  report.section(
    "Windows, ids and email addresses",
    "Pages of windows between two random rows, with `createdAfter` and `createdBefore`; those with *no end* have only `createdAfter`. Beside them are pages of the list itself: random ones, or its first page for windows without an end.",
    table,
  );
}

async function readWindows(report: Report, account: Account, filter: RowFilter) {
  const list = leadList(account, filter);
  const { rows, name } = list;
  const random = seeded(account.rows.length);
  const upTo = (most: number) => Math.floor(random() * most);
  const timeOf = (index: number) => createdAt(rows[index]?.id ?? "");
  const open = () => {
    const from = upTo(rows.length);
    return leadList(account, { ...filter, createdAfter: timeOf(from) }, rows.slice(from));
  };
  // Of half of the rows on average, so that most have pages far from their ends.
  const closed = () => {
    const [from, end] = [upTo(rows.length / 2), rows.length - 1 - upTo(rows.length / 2)];
    const times = { createdAfter: timeOf(from), createdBefore: timeOf(end) };
    return leadList(account, { ...filter, ...times }, rows.slice(from, end));
  };
  const anyPage = ({ rows }: List) => 1 + upTo(Math.ceil(rows.length / limit));
  const firstPage = () => 1;
  const results = [];
  for (const [page, window, pageOf, ownPageOf] of [
    // The first page of a window has the rows of a page in the middle of the list.
    ["first", closed, firstPage, anyPage],
    ["random", closed, anyPage, anyPage],
    ["first, no end", open, firstPage, firstPage],
  ] as const) {
    const cost = await readEach(Array.from({ length: windows }, window), pageOf);
    const own = await readEach(Array<List>(windows).fill(list), ownPageOf);
    const { calls, trips } = cost;
    report.check("window", cost);
    report.check("window (aim)", cost);
    const ofList = { "the list's: R": both(own), "the list's: trips": own.trips };
    results.push({ filter: name, page, R: both(cost), calls, trips, ...ofList });
  }
  return results;
}

async function readEach(lists: readonly List[], pageOf: (list: List) => number) {
  const pages = [];
  for (const list of lists) pages.push(await readPage(list, pageOf(list)));
  return listCost(pages);
}

/** A name as long as a UUID, which each key of an item has. */
export const longName = "7ab7a31b-38c4-4b4b-9f5f-0a6f2a1c7d5e";

/** Reads a page of the conversations of one lead, which have no tree: all of them are read. */
export async function measureConversations(report: Report): Promise<void> {
  const table = [];
  const account = new Account(longName, buildRows(1));
  const leadId = account.rows[0]?.id ?? "";
  const rows: { id: string }[] = [];
  for (const size of [200, 1000, 5000]) {
    while (rows.length < size) {
      advanceClock(1000);
      const id = newId("conv");
      const conversation = { id, leadId, channel: "whatsapp", status: active, messageCount: 1 };
      const Item = conversationItem(account.name, { ...conversation, lastMessageAt: createdAt(id) });
      account.memory.execute(new PutCommand({ TableName: tableName, Item }));
      rows.push({ id });
    }
    const list = { name: leadId, rows, read: listConversations.bind(undefined, account.name, { leadId }) };
    const { read, calls } = await readPage(list, 1);
    table.push({ conversations: size, R: read, calls });
  }
  report.section(
    "Conversations of one lead",
    "Each page reads all of them in the index, and then its own rows.",
    table,
  );
}
