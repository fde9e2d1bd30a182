/** The time of a `Retry-After`. The SDK does not wait for an invalid one. */
export const parseRfc7231DateTime = (text: string) => new Date(text);

/** The services that functions call give times in seconds since the epoch, if any. */
export const parseEpochTimestamp = (seconds: number) => new Date(Math.round(seconds * 1000));

export {
  unused as dateToUtcString,
  unused as parseRfc3339DateTime,
  unused as parseRfc3339DateTimeWithOffset,
} from "./unused.ts";
