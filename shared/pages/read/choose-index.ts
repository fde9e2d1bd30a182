import { accountPartition, type IndexName } from "../../dynamodb/keys.ts";
import type { Item } from "../../dynamodb/table-client.ts";
import type { RowsRequest } from "../page.ts";
import type { CountedList, CountedOwner } from "../tree/counted-list.ts";
import type { Range } from "./range.ts";
import { isBounded, isWithin, timeWindow, type Window } from "./window.ts";

/** A page of the rows of a list that match everything that is defined here. */
export interface ListRequest extends RowsRequest {
  readonly account: string;
  readonly list: CountedList;
  /** If it is defined, only rows with one of these ids, and only if they match the rest. */
  readonly ids: readonly string[] | undefined;
  readonly isAsked?: (item: Item) => boolean;
  /** The partition of `by-parent` that has the rows. */
  readonly parent: string | undefined;
  readonly filter: { readonly status?: string | undefined; readonly label?: string | undefined };
  readonly window: Window;
  readonly timed?: TimedRows | undefined;
}

/** The rows of an index of a time, between two times as they are stored. */
export interface TimedRows {
  readonly index: IndexName;
  readonly window: Window;
}

/** The rows of a list, by their creation. */
export interface ListRange {
  readonly range: Range;
  /** The tree that counts the rows; without it, all rows are read. */
  readonly tree?: CountedOwner | undefined;
  /** The status whose rows the range has; without it, all rows of the tree. */
  readonly status?: string | undefined;
  readonly window: Window;
}

/** The same rows with the tree that counts them. */
export type CountedRange = ListRange & { readonly tree: CountedOwner };

/** The rows of `by-activity`, if the order or the window of a list is by the time of the last change. */
export function byChange(
  { by }: Pick<RowsRequest, "by">,
  after: string | undefined,
  before: string | undefined,
): TimedRows | undefined {
  const window = timeWindow(after, before);
  return by !== undefined || isBounded(window) ? { index: "by-activity", window } : undefined;
}

/**
 * Chooses the index that a list is read from, which sorts by creation, and the tree that counts it: for the leads or
 * conversations with a status, a source or channel, both or neither.
 */
export function chooseRange(asked: ListRequest): ListRange {
  const { account, list, parent, filter, window } = asked;
  const { type, statuses } = list;
  const pk = accountPartition(type, account);
  if (parent !== undefined) {
    const where = toCondition(asked);
    return { range: { list, index: "by-parent", partition: parent, pk, where }, window };
  }
  const { status, label } = filter;
  const labelKey = label === undefined ? undefined : accountPartition(type, account, label);
  const values = [status, label].filter((value) => value !== undefined);
  const ofStatus = label === undefined ? "by-status" : "by-status-and-label";
  const ofLabel = label === undefined ? undefined : "by-label";
  const range = {
    list,
    index: status === undefined ? ofLabel : ofStatus,
    partition: accountPartition(type, account, ...values),
    pk,
  } as const;
  const hasBucket = status === undefined || statuses.includes(status);
  return { range, window, ...(hasBucket && { tree: { account, list, labelKey }, status }) };
}

const laterThan = (time: string) => ({
  field: `${time}After`,
  message: `must be later, or ${time}Before earlier: too many rows would be read`,
});

/** What a client can change if a list has too many rows, by what is read. Without a way out, that is the service's fault. */
export const wayOuts = {
  creation: laterThan("created"),
  change: ({ changeTime }: CountedList) => laterThan(changeTime),
  waiting: {
    field: "awaitingReplyBefore",
    message: "must be earlier, or awaitingReplyAfter later: too many rows would be read",
  },
  sort: {
    field: "sort",
    message:
      "must be by createdAt with these filters, or createdAfter must be later: too many rows would be read",
  },
};

/** Whether a row is asked for, by attributes that its index copies. */
export function toCondition({ list, isAsked = () => true, parent, filter, window }: ListRequest) {
  const values = Object.entries({ status: filter.status, [list.attribute]: filter.label, byParent: parent });
  return (row: Item): boolean =>
    values.every(([name, value]) => value === undefined || row[name] === value) &&
    isWithin(window)(String(row.sk)) &&
    isAsked(row);
}
