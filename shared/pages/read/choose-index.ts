import {
  activityIndex,
  indexes,
  labelPartition,
  listPartition,
  rowKey,
  statusAndLabelPartition,
  statusPartition,
} from "../../dynamodb/keys.ts";
import type { Item, Key } from "../../dynamodb/table-client.ts";
import type { Fault } from "../../errors.ts";
import { type CountedList, type CountedOwner, isRowKey, type ListFilter } from "../tree/counted-list.ts";
import { type Range, rangeId } from "./range.ts";
import { isBounded, isWithin, type Window } from "./window.ts";

/** Which rows of a list are asked for: those that match all that is defined. */
export interface ListRequest {
  readonly account: string;
  readonly list: CountedList;
  /** Only rows with one of these, as far as they are asked for. */
  readonly ids: readonly string[] | undefined;
  readonly isAsked?: (item: Item) => boolean;
  /** The partition of `by-parent` that has the rows. */
  readonly parent: string | undefined;
  readonly filter: ListFilter;
  readonly window: Window;
  /** The times between which their last message was sent, as they are stored. */
  readonly active?: Window;
}

/** How a list is read. */
export type ListPlan = IdsPlan | PlainPlan | CountedPlan | ActivityPlan;

/** What every plan has. */
interface Planned {
  /** Identifies what is read: after a throttle, lists with the same one back off together. */
  readonly id: string;
  /** What a request can change if it asks for too many rows; without it, a list that is too long is the service's fault. */
  readonly wayOut?: WayOut;
}

type WayOut = Pick<Fault, "field" | "message">;

/** Rows by their keys. */
interface IdsPlan extends Planned {
  readonly kind: "ids";
  readonly keys: readonly Key[];
  readonly where: (item: Item) => boolean;
}

/** All rows of a partition without a tree. */
export interface PlainPlan extends Planned {
  readonly kind: "plain";
  readonly range: Range;
  readonly window: Window;
  /** Whether the page depends on the last messages, which the range does not have. */
  readonly needsActivity: boolean;
}

/** The rows of a list, and the tree that counts them. */
export interface CountedRange {
  readonly range: Range;
  readonly tree: CountedOwner;
  /** The status whose rows the range has; without it, all rows of the tree. */
  readonly status?: string | undefined;
  /** The part of the rows that is listed. */
  readonly window: Window;
}

/** The rows of a page, which a tree counts. */
interface CountedPlan extends Planned, CountedRange {
  readonly kind: "counted";
}

/** Rows by their last message. */
export interface ActivityPlan extends Planned {
  readonly kind: "activity";
  readonly range: Range;
  readonly active: Window;
  /** What counts the rows; without it, all that were active in a time are read. */
  readonly own?: CountedPlan | PlainPlan;
}

/** Chooses how a list is read. @param byActivity whether it is sorted by the last messages */
export function planList(asked: ListRequest, byActivity = false): ListPlan {
  const { account, list, ids, parent, filter, window, active = {} } = asked;
  const pk = listPartition(list.type, account);
  const where = toCondition(asked);
  if (ids) {
    const known = [...new Set(ids)].filter((id) => isRowKey(list, id));
    return { kind: "ids", id: `ids ${pk}`, keys: known.map((id) => rowKey(list.type, account, id)), where };
  }
  const needsActivity = byActivity || isBounded(active);
  const own = planOwn(asked, needsActivity);
  if (!needsActivity) return own;
  if (parent !== undefined) return byActivity ? { ...own, wayOut: byCreation } : own;
  const range = { list, index: activityIndex.name, partition: pk, rows: { pk } } as const;
  const id = rangeId(range);
  const filtered = { ...range, where };
  if (isBounded(active)) return { kind: "activity", id, range: filtered, active, wayOut: laterActivity };
  if (!isBounded(filter) && !isBounded(window)) return { kind: "activity", id, range, active, own };
  // An inbox does not back off because of what costs more.
  return { kind: "activity", id: `${id} filtered`, range: filtered, active, own, wayOut: byCreation };
}

/** The plan for the index of a filter, which sorts by creation. */
function planOwn(asked: ListRequest, needsActivity: boolean): CountedPlan | PlainPlan {
  const { account, list, parent, filter, window } = asked;
  const plain = { kind: "plain", window, needsActivity, wayOut: laterCreation } as const;
  if (parent !== undefined) {
    const rows = { pk: listPartition(list.type, account) };
    const range = { list, index: "by-parent", partition: parent, rows, where: toCondition(asked) } as const;
    return { ...plain, id: rangeId(range), range };
  }
  const { range, ...counted } = filteredRange(account, list, filter);
  const id = rangeId(range);
  return filter.status === undefined || list.statuses.includes(filter.status)
    ? { kind: "counted", id, range, ...counted, window }
    : { ...plain, id, range };
}

const laterCreation: WayOut = {
  field: "createdAfter",
  message: "must be later, or createdBefore earlier: too many rows would be read",
};

const laterActivity: WayOut = {
  field: "lastMessageAfter",
  message: "must be later, or lastMessageBefore earlier: too many conversations would be read",
};

const byCreation: WayOut = {
  field: "sort",
  message:
    "must be by createdAt with these filters, or createdAfter later: too many conversations would be read",
};

/**
 * Whether to read all rows of a filter from their own index, and their items, in place of the rows by their last message
 * among which those of a page are. In read units, a row and its item cost 0.55, and a row by its last message 0.025.
 *
 * @param total the number of the filter's rows
 * @param wanted the number of those before the end of the page
 * @param all the number of all rows of the list
 */
export const isOwnCheaper = ({ total, wanted, all }: { total: number; wanted: number; all: number }) =>
  0.55 * total < (0.025 * wanted * all) / total;

/** The leads or conversations of an account with a status, a source or channel, both or neither. */
export function filteredRange(
  account: string,
  list: CountedList,
  filter: ListFilter,
): Omit<CountedRange, "window"> {
  const { status, label } = filter;
  const { type } = list;
  const partition = listPartition(type, account);
  if (label === undefined) {
    const tree = { account, list };
    if (status === undefined) return { tree, range: { list, partition, rows: {} } };
    const rows = { pk: partition, status };
    const range = { list, partition: statusPartition(type, account, status), rows };
    return { tree, status, range: { index: "by-status", ...range } };
  }
  const labelKey = labelPartition(type, account, label);
  const tree = { account, list, labelKey };
  if (status === undefined)
    return { tree, range: { list, index: "by-label", partition: labelKey, rows: { pk: partition } } };
  const both = statusAndLabelPartition(type, account, status, label);
  const rows = { pk: partition, status, [indexes["by-label"]]: labelKey };
  return { tree, status, range: { list, index: "by-status-and-label", partition: both, rows } };
}

/** Whether a row is asked for, by what every index copies. */
const toCondition =
  ({ list, isAsked = () => true, parent, filter, window }: ListRequest) =>
  (row: Item): boolean =>
    hasValues(row, { status: filter.status, [list.attribute]: filter.label }) &&
    hasValues(row, { [indexes["by-parent"]]: parent }) &&
    isWithin(window)(String(row.sk)) &&
    isAsked(row);

/** Whether a row has these values, where they are defined. */
const hasValues = (row: Item, values: Item) =>
  Object.entries(values).every(([name, value]) => value === undefined || row[name] === value);
