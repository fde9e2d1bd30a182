import {
  listPartition,
  sourceOrChannelPartition,
  statusAndSourceOrChannelPartition,
  statusPartition,
} from "../../dynamodb/keys.ts";
import type { CountedList, CountedOwner, Filter } from "../tree/counted-list.ts";
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
  filter: Filter,
): Omit<CountedRange, "window"> {
  const { status, sourceOrChannel } = filter;
  const { type } = list;
  if (sourceOrChannel === undefined) {
    const tree = { account, list };
    if (status === undefined) return { tree, range: { partition: listPartition(type, account) } };
    return { tree, status, range: { index: "by-status", partition: statusPartition(type, account, status) } };
  }
  const origin = sourceOrChannelPartition(type, account, sourceOrChannel);
  const tree = { account, list, origin };
  if (status === undefined) return { tree, range: { index: "by-origin", partition: origin } };
  const both = statusAndSourceOrChannelPartition(type, account, status, sourceOrChannel);
  return { tree, status, range: { index: "by-status-and-origin", partition: both } };
}
