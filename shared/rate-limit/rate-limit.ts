/** How many requests an account may make in a window; windows start at multiples of their length. */
export interface RateLimit {
  readonly requests: number;
  readonly seconds: number;
}

/** The limit of accounts that have no limit of their own; undefined if the stage has none. */
export const rateLimit: RateLimit | undefined =
  process.env.RATE_LIMIT_REQUESTS === undefined
    ? undefined
    : { requests: readCount("RATE_LIMIT_REQUESTS"), seconds: readCount("RATE_LIMIT_SECONDS") };

function readCount(name: string): number {
  const value = process.env[name] ?? "";
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new Error(`${name} must be a whole number above 0.`);
  return Number(value);
}
