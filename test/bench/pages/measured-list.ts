import { listLeads } from "../../../shared/domain/leads.ts";
import {
  listPartition,
  sourceOrChannelPartition,
  statusAndSourceOrChannelPartition,
  statusPartition,
} from "../../../shared/dynamodb/keys.ts";
import type { Page, PageRequest } from "../../../shared/pages/page.ts";
import type { Range } from "../../../shared/pages/read/range.ts";
import type { Population } from "./population.ts";
import type { LeadFilter, LeadRow } from "./rows.ts";

/** A list whose pages are read. */
export interface MeasuredList {
  readonly account: string;
  readonly name: string;
  /** The rows for a plain query. */
  readonly range: Range;
  /** The rows that it must have, oldest first. */
  readonly rows: () => readonly LeadRow[];
  readonly read: (request: PageRequest) => Promise<Page<{ readonly id?: unknown }>>;
}

/** The values of a filter. */
export const filterName = (filter: Readonly<Record<string, string>>) =>
  Object.values(filter).join(" + ") || "none";

/** The leads of an account that match a filter. */
export const leadList = (
  population: Population,
  filter: LeadFilter,
  name = filterName(filter),
): MeasuredList => ({
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
