import { parseTimestamp } from "../../../shared/timestamps.ts";

/** A date and time as files have it, in parts: the date, hours and minutes, seconds, and the offset in three parts. */
const timePattern =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d+)?)?)?(?: ?(?:(Z|UTC)|([+-]\d\d):?(\d\d)?))?$/i;

const day = 86_400_000;

/** Shows the wall clock of a zone as a date and time without an offset. @throws RangeError for an unknown zone */
export const clockOf = (timeZone: string) =>
  new Intl.DateTimeFormat("sv", { timeZone, dateStyle: "short", timeStyle: "medium" });

/**
 * The time of a date, which is its start, or of a date and time, in milliseconds since the epoch. Of a time that a clock
 * shows twice, it is the first; one that it skips is as much later.
 *
 * @param clock of the zone of what has no offset
 * @returns undefined for any other text
 */
export function parseTime(text: string, clock?: Intl.DateTimeFormat): number | undefined {
  const [, date, time = "00:00", seconds = ":00", utc, hours, minutes = "00"] = timePattern.exec(text) ?? [];
  const local = parseTimestamp(`${date}T${time}${seconds}Z`);
  if (local === undefined || utc) return local;
  if (hours) return parseTimestamp(`${date}T${time}${seconds}${hours}:${minutes}`);
  if (!clock) return undefined;
  const offset = (at: number) => Math.ceil((Date.parse(`${clock.format(at)}Z`) - at) / 1000) * 1000;
  const [before, after] = [offset(local - day), offset(local + day)];
  const isShown = (at: number) => at + offset(at) === local;
  return [local - before, local - after].find(isShown) ?? local - before;
}
