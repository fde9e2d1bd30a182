/**
 * The parsers of times. Replaces the SDK's, which parse each format with regular expressions of their own.
 *
 * Safe: the responses of DynamoDB and of the Parameter Store have times in seconds since the epoch, and the header
 * `Retry-After` has the format that `Date` reads. No request and no response has another format: it would be an error.
 */
export const parseEpochTimestamp = (seconds: number) => new Date(Math.round(seconds * 1000));

/** The time of a `Retry-After`. The SDK does not wait for an invalid one. */
export const parseRfc7231DateTime = (text: string) => new Date(text);

function unused(): never {
  throw new Error("Bundles do not have this format of times: see lib/bundling/lambda-modules/times.ts.");
}

export {
  unused as dateToUtcString,
  unused as parseRfc3339DateTime,
  unused as parseRfc3339DateTimeWithOffset,
};
