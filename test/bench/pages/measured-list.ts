import { listConversations } from "../../../shared/domain/conversations.ts";
import { listLeads } from "../../../shared/domain/leads.ts";
import {
  leadConversationsPartition,
  listPartition,
  sourceOrChannelPartition,
  statusAndSourceOrChannelPartition,
  statusPartition,
} from "../../../shared/dynamodb/keys.ts";
import type { Page, PageRequest } from "../../../shared/pages/page.ts";
import type { Range } from "../../../shared/pages/range.ts";
import type { Leads, Population } from "./population.ts";
import type { ConversationRow, Filter, LeadRow, Row } from "./rows.ts";

/** A list whose pages are read. */
export interface MeasuredList {
  readonly account: string;
  readonly name: string;
  /** The rows for a plain query. */
  readonly range: Range;
  /** The rows that it must have, oldest first. */
  readonly rows: () => readonly Row[];
  readonly read: (request: PageRequest) => Promise<Page<{ readonly id?: unknown }>>;
}

export type LeadFilter = Filter<LeadRow>;

/** The values of a filter. */
export const filterName = (filter: Readonly<Record<string, string>>) =>
  Object.values(filter).join(" + ") || "none";

/** The leads of an account that match a filter. */
export const leadList = (population: Leads, filter: LeadFilter, name = filterName(filter)): MeasuredList => ({
  account: population.account,
  name,
  range: leadRange(population.account, filter),
  rows: () => population.matching(filter),
  read: (request) => listLeads(population.account, filter, request),
});

/** The rows of such a list. */
export function leadRange(account: string, { status, source }: LeadFilter): Range {
  if (status && source)
    return {
      index: "by-status-and-origin",
      partition: statusAndSourceOrChannelPartition("lead", account, status, source),
    };
  if (status) return { index: "by-status", partition: statusPartition("lead", account, status) };
  if (source) return { index: "by-origin", partition: sourceOrChannelPartition("lead", account, source) };
  return { partition: listPartition("lead", account) };
}

/** The conversations of one lead that match a filter. */
export function conversationList(
  population: Population<ConversationRow>,
  filter: Filter<ConversationRow> & { readonly leadId: string },
  name: string,
): MeasuredList {
  const { account } = population;
  const { leadId, ...where } = filter;
  return {
    ...{ account, name },
    range: { index: "by-parent", partition: leadConversationsPartition(account, leadId), where },
    rows: () => population.matching(filter),
    read: (request) => listConversations(account, filter, request),
  };
}
