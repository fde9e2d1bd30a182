import { encodeTime } from "ulid";
import { readPartition } from "../../dynamodb/keys.ts";
import { idPrefixes, isId, maxIdAhead } from "../../ids.ts";
import { leadStatuses } from "../../schemas/lead-schemas.ts";

/** Items that sort by their ids. */
type Sorted = Readonly<{ type: keyof typeof idPrefixes }>;

/** The lists whose rows are counted: the leads and the conversations of an account. */
export const countedLists = {
  lead: {
    type: "lead",
    /** The attribute with the source or the channel of a row. */
    attribute: "source",
    /** How the names of the time of a row's last change and of its filters begin, such as `updatedAt` and `updatedAfter`. */
    changeTime: "updated",
    /** The statuses with a bucket of their own, whose number is the index here; one more bucket counts all others. */
    statuses: leadStatuses as readonly string[],
    /** Whether the indexes of its filters leave out the fields that change with each message. */
    isLean: false,
  },
  conversation: {
    type: "conversation",
    attribute: "channel",
    changeTime: "lastMessage",
    statuses: ["active", "closed"] as readonly string[],
    isLean: true,
  },
} as const;

export type CountedList = (typeof countedLists)[keyof typeof countedLists];

/** What has a tree: a list of an account, or one label of the list. */
export interface CountedOwner {
  readonly account: string;
  readonly list: CountedList;
  /** The partition of the label in `by-label`; undefined for the whole list. */
  readonly labelKey?: string | undefined;
}

/** The list of a partition of the table; undefined for a partition that is not a list. */
export function findList(pk: string): CountedOwner | undefined {
  const { type, account = "", others } = readPartition(pk) ?? {};
  const isList = (type === "lead" || type === "conversation") && others?.length === 0;
  return isList ? { account, list: countedLists[type] } : undefined;
}

/** The number of the bucket that counts the rows of a status. */
export function bucketOf({ statuses }: CountedList, status: unknown): number {
  // Not `String(status)`, which throws for some objects.
  const index = statuses.indexOf(status as string);
  return index < 0 ? statuses.length : index;
}

/** The sort key before those of all rows that were created at a time (milliseconds since the epoch) or later. */
export const keyAt = ({ type }: Sorted, time: number) =>
  `${idPrefixes[type]}_${encodeTime(Math.max(0, time), 10)}`;

/**
 * Whether a sort key is the id of a row, and its time has come. Items with other sort keys are no rows: no tree counts them,
 * and no list shows them.
 */
export const isRowKey = ({ type }: Sorted, sk: unknown): sk is string => isId(idPrefixes[type], sk);

/** The sort key after those of all rows: later sort keys are of the future. */
export const endOfRows = (list: Sorted) => keyAt(list, Date.now() + maxIdAhead + 1);

/** The later of two sort keys. */
export const latest = (a: string, b: string) => (a > b ? a : b);

/** The earlier of two sort keys. */
export const earliest = (a: string, b: string) => (a < b ? a : b);
