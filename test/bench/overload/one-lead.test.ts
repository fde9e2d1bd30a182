import { join } from "node:path";
import { expect, test } from "vitest";
import { runGreedy } from "./greedy.ts";
import { filters, runLoneLists } from "./lone-lists.ts";
import { buildProduct } from "./product.ts";

const product = await buildProduct(join(import.meta.dirname, "../../.."));

/** How many table calls a list may make. */
const mostCalls = 12;

test.each(filters)("a list of a lead's conversations is exact after a few calls: $filter", async (filter) => {
  const { lists } = await runLoneLists(product, filter, 1);
  for (const list of lists) {
    expect(list).toMatchObject({ status: 200, exact: true });
    expect(list.calls).toBeLessThanOrEqual(mostCalls);
  }
});

test("an account that lists a lead's conversations without a pause does not slow its neighbours", async () => {
  const plan = { rateLimit: 1_000_000, environments: 10, seconds: 5 };
  const { alone, beside, statuses } = await runGreedy(product, plan, 1);
  expect(beside.exact).toBe(beside.requests);
  expect(beside.p99).toBeLessThanOrEqual(1.5 * (alone.p99 ?? 0));
  // Otherwise nothing was tested.
  expect(statuses[429]).toBeGreaterThan(1000);
});
