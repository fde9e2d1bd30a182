import { DateTime } from "luxon";
import { parseTimestamp } from "../../../../shared/timestamps.ts";

/** A date and time in a file. The groups are the date, hours and minutes, seconds, and three parts of the offset. */
const timePattern =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d+)?)?)?(?: ?(?:(Z|UTC)|([+-]\d\d):?(\d\d)?))?$/i;

/** A format without its quoted texts. */
export const formatTokens = (format: string) => format.replace(/'[^']*'/g, "");

/** Converts a time in a format to ISO 8601, with an offset if the format has one. Returns any other text unchanged. */
export function toIsoForm(text: string, format?: string): string {
  if (!format) return text;
  const read = DateTime.fromFormat(text, format, { zone: "utc", locale: "en" });
  return read.toISO({ includeOffset: /z/i.test(formatTokens(format)) }) ?? text;
}

/**
 * Parses a date, which means its start, or a date and time, to milliseconds since the epoch. A local time that occurs twice
 * means the first. A local time that the clock skips is moved later by as much as it skips.
 *
 * @param zone the time zone of texts without an offset
 * @returns undefined for any other text
 */
export function parseTime(text: string, zone?: string): number | undefined {
  const [, date, time = "00:00", seconds = ":00", utc, hours, minutes = "00"] = timePattern.exec(text) ?? [];
  const offset = hours ? `${hours}:${minutes}` : "Z";
  const read = parseTimestamp(`${date}T${time}${seconds}${offset}`);
  if (read === undefined || utc || hours) return read;
  if (!zone) return undefined;
  const local = DateTime.fromMillis(read, { zone: "utc" }).setZone(zone, { keepLocalTime: true });
  return Math.min(...local.getPossibleOffsets().map(Number));
}
