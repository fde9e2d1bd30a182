import type { Api } from "../template/api-definition.ts";

/** Creates a token bucket. @returns a function that takes a token, and returns false when there is none */
export function createTokenBucket(
  { ratePerSecond, burst }: NonNullable<Api["throttle"]>,
  now = () => performance.now(),
): () => boolean {
  let tokens = burst;
  let refilledAt = now();
  return () => {
    const at = now();
    tokens = Math.min(burst, tokens + ((at - refilledAt) / 1000) * ratePerSecond);
    refilledAt = at;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
