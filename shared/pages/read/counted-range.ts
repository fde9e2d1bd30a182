import {
  indexes,
  listPartition,
  sourceOrChannelPartition,
  statusAndSourceOrChannelPartition,
  statusPartition,
} from "../../dynamodb/keys.ts";
import type { CountedList, CountedOwner, ListFilter } from "../tree/counted-list.ts";
import type { Range } from "./range.ts";
import type { Window } from "./window.ts";

/** The rows of a list, and the tree that counts them. */
export interface CountedRange {
  readonly range: Range;
  readonly tree: CountedOwner;
  /** The status whose rows the range has; without it, all rows of the tree. */
  readonly status?: string | undefined;
  /** The part of the rows that is listed. */
  readonly window: Window;
}

/** The leads or conversations of an account with a status, a source or channel, both or neither. */
export function filteredRange(
  account: string,
  list: CountedList,
  filter: ListFilter,
): Omit<CountedRange, "window"> {
  const { status, sourceOrChannel } = filter;
  const { type } = list;
  const partition = listPartition(type, account);
  if (sourceOrChannel === undefined) {
    const tree = { account, list };
    if (status === undefined) return { tree, range: { list, partition, rows: {} } };
    const rows = { pk: partition, status };
    const range = { list, partition: statusPartition(type, account, status), rows };
    return { tree, status, range: { index: "by-status", ...range } };
  }
  const origin = sourceOrChannelPartition(type, account, sourceOrChannel);
  const tree = { account, list, origin };
  if (status === undefined)
    return { tree, range: { list, index: "by-origin", partition: origin, rows: { pk: partition } } };
  const both = statusAndSourceOrChannelPartition(type, account, status, sourceOrChannel);
  const rows = { pk: partition, status, [indexes["by-origin"]]: origin };
  return { tree, status, range: { list, index: "by-status-and-origin", partition: both, rows } };
}
