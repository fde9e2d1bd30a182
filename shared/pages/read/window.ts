import { parseTimestamp } from "../../timestamps.ts";
import { type CountedList, keyAt } from "../tree/counted-list.ts";

/** A part of a list: the rows from one sort key to before another. A missing key is no bound. */
export interface Window {
  readonly from?: string | undefined;
  readonly before?: string | undefined;
}

/** The window of the rows created between two RFC 3339 timestamps: their sort keys are ids, which begin with a time. */
export const creationWindow = (list: CountedList, after: string | undefined, end: string | undefined) =>
  toWindow(after, end, (time) => keyAt(list, time));

/** The window between two RFC 3339 timestamps, in the form in which times are stored. */
export const timeWindow = (after: string | undefined, end: string | undefined) =>
  toWindow(after, end, (time) =>
    // With an offset, a time can be outside of the years 0 to 9999, where its form does not sort among the others.
    new Date(Math.min(Math.max(0, time), Date.parse("9999-12-31T23:59:59.999Z"))).toISOString(),
  );

function toWindow(after: string | undefined, end: string | undefined, toBound: (time: number) => string) {
  const [from, before] = [after, end].map((timestamp) => {
    const time = timestamp === undefined ? undefined : parseTimestamp(timestamp);
    return time === undefined ? undefined : toBound(time);
  });
  return { from, before };
}

/** Whether a window has a bound, or a filter a value. */
export const isBounded = (part: object) => Object.values(part).some((value) => value !== undefined);

/** Whether a sort key, or a time, lies in the window. */
export const isWithin =
  ({ from, before }: Window) =>
  (sk: string) =>
    (from === undefined || sk >= from) && (before === undefined || sk < before);
