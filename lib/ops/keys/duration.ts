import { InvalidArgumentError } from "commander";
import ms, { type StringValue } from "ms";

/** A duration in milliseconds. The unit is required, because `ms` would read a bare number as milliseconds. */
export function parseDuration(text: string): number {
  const milliseconds = /^\d+(?:s|m|h|d|w|y)$/.test(text) ? ms(text as StringValue) : 0;
  if (milliseconds > 0 && Date.now() + milliseconds <= lastDate) return milliseconds;
  throw new InvalidArgumentError("A duration is a number with a unit: 90s, 24h, 7d.");
}

/** The last time that a `Date` can have, in milliseconds since the epoch. */
const lastDate = 8.64e15;
