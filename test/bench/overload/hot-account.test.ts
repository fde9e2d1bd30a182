import { join } from "node:path";
import { expect, test } from "vitest";
import { runHotAccount } from "./hot-account.ts";
import { buildProduct } from "./product.ts";

/** A twentieth of what AWS serves, and of the load that the report has. */
const rates = { read: 150, write: 50, burstSeconds: 0 };
const plan = { requestsPerSecond: 250, environments: 40, rateLimit: 600, minutes: 2 };

test("an account whose limit is throttled is not granted more than its limit, and its neighbour is served", async () => {
  const product = await buildProduct(join(import.meta.dirname, "../../.."));
  const { hot, granted, alone, beside, throttled, started } = await runHotAccount(product, plan, 1, rates);
  expect(granted).toBeLessThanOrEqual(plan.minutes * plan.rateLimit);
  expect(granted).toBeGreaterThan(0.8 * plan.minutes * plan.rateLimit);
  // Its writes use up another partition.
  expect(Object.keys(hot.statuses)).toEqual(["201", "too_many_at_once", "rate_limited"]);
  expect(Object.keys(beside.statuses)).toEqual(["201"]);
  expect(beside.p99).toBeLessThanOrEqual(1.5 * (alone.p99 ?? 0));
  // Otherwise nothing was tested.
  expect(throttled).toBeGreaterThan(plan.environments);
  expect(started).toBeGreaterThan(0.9 * plan.environments);
});
