/** A date and a time with an offset. Leap seconds are left out: no clock of the service has them. */
const rfc3339 =
  /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/**
 * The time of an RFC 3339 timestamp, in milliseconds since the epoch; digits beyond the millisecond are ignored.
 *
 * @returns undefined for any other text
 * @see https://www.rfc-editor.org/rfc/rfc3339#section-5.6
 */
export function parseTimestamp(text: string): number | undefined {
  const date = rfc3339.exec(text)?.[1];
  // JavaScript turns 30 February into a day in March. The JSON of an invalid date is null.
  const day: string | null = new Date(`${date}T00:00:00Z`).toJSON();
  return date !== undefined && day?.startsWith(date) ? Date.parse(text.toUpperCase()) : undefined;
}
