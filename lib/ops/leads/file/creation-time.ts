import { DateTime } from "luxon";
import { parseTimestamp } from "../../../../shared/timestamps.ts";

/** A date and time in a file. The groups are the date, hours and minutes, seconds, and three parts of the offset. */
const timePattern =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d+)?)?)?(?: ?(?:(Z|UTC)|([+-]\d\d):?(\d\d)?))?$/i;

const dates =
  "yyyy/M/d|yyyy-M-d|yyyyMMdd|d MMM yyyy|d MMMM yyyy|MMM d, yyyy|d/M/yyyy|M/d/yyyy|d-M-yyyy|M-d-yyyy|d.M.yyyy|d/M/yy|M/d/yy|d.M.yy|d-MMM-yy";

const readLocal = (text: string, format: string) =>
  DateTime.fromFormat(text, format, { zone: "utc", locale: "en" });

/** The usual formats that fit a time which is not in ISO 8601. */
export function guessFormats(text: string): readonly string[] {
  const [, gap, seconds = "", half = ""] = /(,? )\d\d?:\d\d(:\d\d)?( ?[ap]m)?$/i.exec(text) ?? [];
  const time = gap ? `${gap}${half ? "h" : "H"}:mm${seconds && ":ss"}${half.replace(/[ap]m/i, "a")}` : "";
  const formats = dates.split("|").map((date) => date + time);
  // Luxon also accepts a year of four digits where the format has two.
  const isOfForm = (format: string) => format.includes("yyyy") === /\d{4}/.test(text);
  return formats.filter((each) => isOfForm(each) && readLocal(text, each).isValid);
}

/** A format without its quoted texts. */
export const formatTokens = (format: string) => format.replace(/'[^']*'/g, "");

/** Converts a time in a format to ISO 8601, with an offset if the format has one. Returns any other text unchanged. */
export function toIsoForm(text: string, format?: string): string {
  const read = format ? readLocal(text, format) : undefined;
  return read?.toISO({ includeOffset: /z/i.test(formatTokens(format ?? "")) }) ?? text;
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
