import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { conversationItem, listConversations } from "../../../shared/domain/conversations/conversations.ts";
import { tableName } from "../../../shared/dynamodb/table-client.ts";
import { createdAt, newId } from "../../../shared/ids.ts";
import type { ConversationsQuery } from "../../../shared/schemas/conversation-schemas.ts";
import { seeded } from "../../support/cases/random.ts";
import { startedConversation } from "../../support/tables/stored.ts";
import { Account } from "./account.ts";
import { advanceClock } from "./clock.ts";
import { buildRows, type RowFilter } from "./lead-rows.ts";
import { type List, leadList, limit, listCost, readPage } from "./read-list.ts";
import type { Report } from "./report.ts";

const filters: readonly RowFilter[] = [{}, { status: "new" }, { source: "website" }];

/** How many windows of a list are read. */
const windows = 60;

/** Reads windows between random rows of lists: a first page, any page, and a first page with `createdAfter` alone. */
export async function measureWindows(report: Report, leads: number): Promise<void> {
  const account = new Account("windows", buildRows(leads));
  await account.count();
  for (const filter of filters) await readWindows(report, account, filter);
}

async function readWindows(report: Report, account: Account, filter: RowFilter): Promise<void> {
  const { rows } = leadList(account, filter);
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
  for (const [window, pageOf] of [
    // The first page of a window has the rows of a page in the middle of the list.
    [closed, () => 1],
    [closed, anyPage],
    [open, () => 1],
  ] as const) {
    const pages = [];
    for (const list of Array.from({ length: windows }, window))
      pages.push(await readPage(list, pageOf(list)));
    report.check("window", listCost(pages));
  }
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
      const Item = conversationItem(account.name, startedConversation(id, { leadId }));
      account.memory.execute(new PutCommand({ TableName: tableName, Item }));
      rows.push({ id });
    }
    const inOrder = async (sort: ConversationsQuery["sort"]) => {
      const read = listConversations.bind(undefined, account.name, { leadId, sort });
      return readPage({ name: leadId, rows, read }, 1);
    };
    const { read, calls } = await inOrder("-createdAt");
    const byActivity = size > 400 ? "none" : (await inOrder("-lastMessageAt")).read;
    table.push({ conversations: size, R: read, calls, "by activity: R": byActivity });
  }
  report.section(
    "Conversations of one lead",
    "Each page reads all of them in the index, and then its own rows. By activity, it reads all rows as well, and more than 400 conversations return 400.",
    table,
  );
}
