import { expect, test } from "vitest";
import { createTokenBucket } from "../../../../lib/local/gateway/request-handler.ts";

test("a burst is allowed, then the rate, and the bucket never holds more than the burst", () => {
  let now = 0;
  const takeToken = createTokenBucket({ ratePerSecond: 10, burst: 3 }, () => now);
  const take = (count: number) => Array.from({ length: count }, takeToken).filter(Boolean).length;
  expect(take(5)).toBe(3);
  now += 100;
  expect(take(5)).toBe(1);
  now += 60_000;
  expect(take(5)).toBe(3);
});
