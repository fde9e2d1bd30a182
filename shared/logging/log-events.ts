/** The `event` of each kind of log line, by which metric filters and operators find it. */
export const logEvents = {
  request: "request",
  requestFailed: "request failed",
  functionFailed: "function failed",
  rateLimiterFailedOpen: "rate limiter failed open",
  countsFailed: "counts failed",
} as const;
