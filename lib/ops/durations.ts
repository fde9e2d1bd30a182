import { InvalidArgumentError } from "commander";
import ms, { type StringValue } from "ms";

/**
 * The milliseconds of a duration as it is written on the command line. Its unit is required: `ms` would take a bare
 * number for milliseconds.
 */
export function duration(text: string): number {
  const milliseconds = /^\d+(?:s|m|h|d|w|y)$/.test(text) ? ms(text as StringValue) : Number.NaN;
  // A date that cannot be written is refused with the same words: its number is out of all reason.
  if (milliseconds > 0 && !Number.isNaN(inTime(milliseconds).getTime())) return milliseconds;
  throw new InvalidArgumentError("A duration is a number with a unit: 90s, 24h, 7d.");
}

/** The ISO 8601 UTC timestamp of a time from now, in milliseconds. */
export const after = (milliseconds: number) => inTime(milliseconds).toISOString();

const inTime = (milliseconds: number) => new Date(Date.now() + milliseconds);
