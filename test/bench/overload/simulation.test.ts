import { join } from "node:path";
import { expect, test } from "vitest";
import { buildProduct } from "./product.ts";
import { Simulation } from "./simulation.ts";

const product = await buildProduct(join(import.meta.dirname, "../../.."));

/** So low that the lists of a moderate load throttle. */
const rates = { read: 100, write: 100, burstSeconds: 0 };

async function simulate(seed: number): Promise<Simulation> {
  const simulation = new Simulation({ product, rates, leadBytes: 1000, accounts: ["acme"], seed });
  simulation.setLoads({ acme: { createsPerSecond: 10, listsPerSecond: 10 } });
  await simulation.run(30);
  return simulation;
}

test("a simulation is the same for the same seed", async () => {
  const [first, again, other] = [await simulate(1), await simulate(1), await simulate(2)];
  expect(again.requests).toEqual(first.requests);
  expect(other.requests).not.toEqual(first.requests);
  expect([...again.service.memory.items()]).toEqual([...first.service.memory.items()]);
});

test("requests are answered, or refused when the table throttles them", async () => {
  const { requests } = await simulate(1);
  const answers = (kind: string) =>
    new Set(requests.filter((one) => one.kind === kind).map(({ answer }) => answer));
  expect(answers("create")).toEqual(new Set(["answered"]));
  expect(answers("list")).toEqual(new Set(["answered", "busy"]));
});
