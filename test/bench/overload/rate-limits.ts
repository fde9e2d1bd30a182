/** The environment variables of a rate limit. */
export const rateLimitOf = (requests: number) => ({
  RATE_LIMIT_REQUESTS: String(requests),
  RATE_LIMIT_SECONDS: "60",
});

/** The rate limit of the stage `dev`. */
export const usualRateLimit = rateLimitOf(6000);
