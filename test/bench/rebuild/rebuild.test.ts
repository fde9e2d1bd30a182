import { join } from "node:path";
import { expect, test } from "vitest";
import { buildProduct } from "../overload/product.ts";
import { buildOperations } from "./operations.ts";
import { populate } from "./population.ts";
import { hasSucceeded, runTrial } from "./trial.ts";

const source = join(import.meta.dirname, "../../..");
const [product, load] = await Promise.all([buildProduct(source), buildOperations(source)]);

/** Limits that the commands and the load exceed together, as large ones exceed those of AWS. */
const rates = { read: 250, write: 150, burstSeconds: 0 };
const units = 200;

test.each([
  4, 20,
])("rebuild and verify succeed after a kill while the table throttles them, with %i sources", async (count) => {
  const sources = Array.from({ length: count }, (_, n) => `source-${n}`);
  const population = await populate(load, { leads: 1500, leadBytes: 1000, sources });
  const trial = await runTrial({ product, load, population, rates, units, seed: 1 });
  expect(trial).toSatisfy(hasSucceeded);
  // Otherwise nothing was tested.
  expect(trial.throttled).toBeGreaterThan(0);
});
