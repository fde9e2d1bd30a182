import { expect, test } from "vitest";
import { createTokenBucket } from "../../../../lib/local/gateway/token-bucket.ts";

test("a burst passes, then the rate holds, and a pause fills the bucket no further than the burst", () => {
  let now = 0;
  const admits = createTokenBucket({ ratePerSecond: 10, burst: 3 }, () => now);
  const admitted = (count: number) => Array.from({ length: count }, admits).filter(Boolean).length;
  expect(admitted(5)).toBe(3);
  now += 100;
  expect(admitted(5)).toBe(1);
  now += 60_000;
  expect(admitted(5)).toBe(3);
});
