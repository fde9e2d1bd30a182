import { encodeTime } from "ulid";
import { isId, maxIdAhead } from "../../ids.ts";
import { leadStatuses } from "../../schemas/lead-schemas.ts";

/** What sorts by its ids. */
type Prefixed = Readonly<{ idPrefix: string }>;

/** The lists whose rows are counted: the leads and the conversations of an account. */
export const countedLists = {
  lead: {
    type: "lead",
    /** The prefix of its ids, and so of its sort keys. */
    idPrefix: "lead_",
    /** The attribute with the source or the channel of a row. */
    attribute: "source",
    /** The field with the time of a row's last change begins with it, and so do the parameters of its window. */
    changeTime: "updated",
    /** The statuses that are counted by themselves, each in the bucket of its place; one more bucket counts all others. */
    statuses: leadStatuses as readonly string[],
    /** Whether the indexes of its filters leave out fields of its rows: those that change with each message. */
    isLean: false,
  },
  conversation: {
    type: "conversation",
    idPrefix: "conv_",
    attribute: "channel",
    changeTime: "lastMessage",
    statuses: ["active", "closed"] as readonly string[],
    isLean: true,
  },
} as const;

export type CountedList = (typeof countedLists)[keyof typeof countedLists];

/** A list of an account, or one of its labels, with the tree that counts it. */
export interface CountedOwner {
  readonly account: string;
  readonly list: CountedList;
  /** Of a label, the partition of its source or channel in `by-label`; without it, the whole list. */
  readonly labelKey?: string | undefined;
}

/** A label of an account: the rows of one source or channel. */
export type LabelOwner = CountedOwner & { readonly labelKey: string };

/** The filter of a list. */
export interface ListFilter {
  readonly status?: string | undefined;
  readonly label?: string | undefined;
}

/** The number of the bucket that counts the rows of a status. */
export function bucketOf({ statuses }: CountedList, status: unknown): number {
  // Not `String(status)`, which throws for some objects.
  const index = statuses.indexOf(status as string);
  return index < 0 ? statuses.length : index;
}

/** The sort key before those of all rows created at a time (milliseconds since the epoch) or later. */
export const keyAt = (list: Prefixed, time: number) => list.idPrefix + encodeTime(Math.max(0, time), 10);

/**
 * Whether a sort key is the id of a row, whose time has come. Items with other sort keys are no rows: no tree has them, and
 * no list shows them.
 */
export const isRowKey = ({ idPrefix }: Prefixed, sk: unknown): sk is string =>
  isId(idPrefix.slice(0, -1), sk);

/** The sort key after those of all rows: what follows is of the future. */
export const endOfRows = (list: Prefixed) => keyAt(list, Date.now() + maxIdAhead + 1);

/** The later of two sort keys. */
export const latest = (a: string, b: string) => (a > b ? a : b);

/** The earlier of two sort keys. */
export const earliest = (a: string, b: string) => (a < b ? a : b);
