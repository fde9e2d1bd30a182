import { encodeTime } from "ulid";

/** A list whose rows are counted: the leads or the conversations of an account. */
export interface CountedList {
  readonly type: "lead" | "conversation";
  /** What its ids, and so its sort keys, begin with. */
  readonly idPrefix: "lead_" | "conv_";
  /** The attribute that holds a row's origin. */
  readonly sourceOrChannelAttribute: "source" | "channel";
}

export const countedLists = {
  lead: { type: "lead", idPrefix: "lead_", sourceOrChannelAttribute: "source" },
  conversation: { type: "conversation", idPrefix: "conv_", sourceOrChannelAttribute: "channel" },
} as const satisfies Record<string, CountedList>;

/** What is counted of a row, under its sort key. */
export interface CountedRow {
  readonly sk: string;
  readonly status: string;
  readonly sourceOrChannel: string | undefined;
}

/** What is counted of an item of the list. */
export const countedRow = (list: CountedList, item: Readonly<Record<string, unknown>>): CountedRow => ({
  sk: String(item.sk),
  status: String(item.status),
  sourceOrChannel:
    item[list.sourceOrChannelAttribute] === undefined
      ? undefined
      : String(item[list.sourceOrChannelAttribute]),
});

/** The sort key before those of all rows made at a time (milliseconds since the epoch) or later. */
export const keyAt = (list: CountedList, time: number) => list.idPrefix + encodeTime(Math.max(0, time), 10);
