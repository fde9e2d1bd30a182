import type { Throttle } from "../template/api-definition.ts";

/** Makes a token bucket: the function says whether one more request may pass now. */
export function createTokenBucket(
  { ratePerSecond, burst }: Throttle,
  now = () => performance.now(),
): () => boolean {
  let tokens = burst;
  let filledAt = now();
  return () => {
    const at = now();
    tokens = Math.min(burst, tokens + ((at - filledAt) / 1000) * ratePerSecond);
    filledAt = at;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
