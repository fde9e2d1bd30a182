import { conversationItem, listConversations } from "../../../shared/domain/conversations.ts";
import { leadItem, listLeads } from "../../../shared/domain/leads.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { createdAt } from "../../../shared/ids.ts";
import type { Page, PageRequest } from "../../../shared/pages/page.ts";
import { type CountedList, countedLists } from "../../../shared/pages/tree/counted-list.ts";
import { leadStatuses } from "../../../shared/schemas/lead-schemas.ts";

/** What determines the lists of a row. */
export interface ListedRow {
  readonly id: string;
  readonly status: string;
  /** The source of a lead or the channel of a conversation. */
  readonly origin?: string | undefined;
  /** The lead of a conversation, or the email address of a lead. */
  readonly parent?: string | undefined;
}

/** The filter of a list: its rows have these values, and were created in a time (milliseconds since the epoch). */
export interface ListFilter extends Omit<Partial<ListedRow>, "id"> {
  readonly createdAfter?: number | undefined;
  readonly createdBefore?: number | undefined;
}

/** The times of a filter as a query has them. */
const toTimes = ({ createdAfter: after, createdBefore: before }: ListFilter) => ({
  ...(after !== undefined && { createdAfter: new Date(after).toISOString() }),
  ...(before !== undefined && { createdBefore: new Date(before).toISOString() }),
});

/** The rows of a world: leads or conversations. */
export interface RowKind {
  readonly list: CountedList;
  readonly statuses: readonly [string, ...string[]];
  /** The sources or channels, those of most rows first. */
  readonly origins: readonly (string | undefined)[];
  /** The leads of conversations, or the email addresses of leads. */
  readonly parents: readonly (string | undefined)[];
  /** What lists respond. */
  toRecord(row: ListedRow): { readonly id: string };
  toItem(account: string, row: ListedRow): Item;
  read(account: string, filter: ListFilter, page: PageRequest): Promise<Page<{ readonly id: string }>>;
}

const rareOrigins = Array.from({ length: 3 }, (_, i) => `rare-${i}`);

const toLead = ({ id, status, origin, parent }: ListedRow) => ({
  ...{
    id,
    name: "x",
    ...(parent !== undefined && { email: parent }),
    score: 0,
    status: status as (typeof leadStatuses)[number],
  },
  ...(origin !== undefined && { source: origin }),
  ...{ tags: [], createdAt: createdAt(id) },
});

/** Leads with one of two sources, or none, and with one of two email addresses, or none. */
export const leadRows: RowKind = {
  list: countedLists.lead,
  statuses: leadStatuses,
  origins: ["a", "b", undefined, ...rareOrigins],
  parents: [undefined, "Ada@example.com", "grace@example.com"],
  toRecord: toLead,
  toItem: (account, row) => leadItem(account, toLead(row)),
  read: (account, { status, origin, parent, ...times }, page) =>
    listLeads(
      account,
      {
        status: status as undefined,
        ...(origin !== undefined && { source: origin }),
        ...(parent !== undefined && { email: parent.toUpperCase() }),
        ...toTimes(times),
      },
      page,
    ),
};

const toConversation = ({ id, status, origin = "", parent: leadId = "" }: ListedRow) => ({
  ...{ id, leadId, channel: origin, status },
  ...{ lastMessageAt: createdAt(id), messageCount: 1 },
});

/** Conversations of a few leads on a few channels, with more statuses than a dictionary holds. */
export const conversationRows: RowKind = {
  list: countedLists.conversation,
  statuses: ["active", "closed", "waiting", "spam", "archived"],
  origins: ["x", "y", "z"],
  parents: ["lead-1", "lead-2", "lead-3"],
  toRecord: toConversation,
  toItem: (account, row) => conversationItem(account, toConversation(row)),
  read: (account, { status, origin, parent, ...times }, page) =>
    listConversations(
      account,
      {
        ...(status !== undefined && { status }),
        ...(origin !== undefined && { channel: origin }),
        ...(parent !== undefined && { leadId: parent }),
        ...toTimes(times),
      },
      page,
    ),
};
