import { crc32 } from "node:zlib";
import { encodeTime } from "ulid";
import { conversationItem, listConversations, toConversation } from "../../shared/domain/conversations.ts";
import { leadItem, listLeads, toLead } from "../../shared/domain/leads.ts";
import type { Item } from "../../shared/dynamodb/table-client.ts";
import type { Page, PageRequest } from "../../shared/pages/page.ts";
import { type CountedOwner, countedLists } from "../../shared/pages/tree/counted-list.ts";
import type { Lead } from "../../shared/schemas/lead-schemas.ts";

/** The account of every scenario. */
export const account = "acme";

/** The lead of all conversations. */
const leadId = "lead_x";

/** What lists filter rows by. */
export interface RowFilter {
  readonly status?: Lead["status"];
  /** The source of a lead, or the channel of a conversation. */
  readonly source?: string;
}

/** The rows of a scenario: leads, or the conversations of one lead. */
export interface RowKind {
  readonly owner: CountedOwner;
  /** The item of a row, whose number is in its id. */
  create(row: number, createdAt: number, source: string | undefined): Item;
  /** The item with another status, source or channel. */
  change(item: Item, filter: RowFilter): Item;
  /** A page of the account's leads, or of the lead's conversations, that match a filter. */
  list(filter: RowFilter, page: PageRequest): Promise<Page<{ readonly id: string }>>;
  /** A page of the whole list. */
  listAll(page: PageRequest): Promise<Page<{ readonly id: string }>>;
}

/** With this limit, rows whose numbers end with 0 make a maintainer look at their sublists. */
export const lookEvery = 16;

function newRow(prefix: string, row: number, createdAt: number) {
  for (let suffix = 0; ; suffix++) {
    const number = String(row * 1000 + suffix).padStart(16, "0");
    const id = `${prefix}${encodeTime(createdAt, 10)}${number}`;
    const looks = crc32(id) % lookEvery === 0;
    if (looks === (row % 10 === 0)) return { id, status: "new" as const };
  }
}

/** The number of a row, from its id. */
export const rowNumber = (id: string) => Math.floor(Number(id.slice(-16)) / 1000);

export const leads: RowKind = {
  owner: { account, list: countedLists.lead },
  create: (row, createdAt, source) =>
    leadItem(account, {
      ...newRow("lead_", row, createdAt),
      ...{ name: "x", score: 0, tags: [], createdAt: new Date(createdAt).toISOString() },
      ...(source !== undefined && { source }),
    }),
  change: (item, filter) => leadItem(account, { ...toLead(item), ...filter }),
  list: (filter, page) => listLeads(account, filter, page),
  listAll: (page) => listLeads(account, {}, page),
};

export const conversations: RowKind = {
  owner: { account, list: countedLists.conversation },
  create: (row, createdAt, channel = "") =>
    conversationItem(account, {
      ...newRow("conv_", row, createdAt),
      ...{ leadId, channel, messageCount: 1, lastMessageAt: new Date(createdAt).toISOString() },
    }),
  change: (item, { source: channel, ...filter }) =>
    conversationItem(account, { ...toConversation(item), ...filter, ...(channel && { channel }) }),
  list: ({ status, source: channel }, page) =>
    listConversations(account, { leadId, ...(status && { status }), ...(channel && { channel }) }, page),
  listAll: (page) => listConversations(account, {}, page),
};

/** Whether a row matches a filter. */
export const isMatch =
  ({ owner: { list } }: RowKind, { status, source }: RowFilter) =>
  (item: Item) =>
    (status === undefined || item.status === status) &&
    (source === undefined || item[list.attribute] === source);
