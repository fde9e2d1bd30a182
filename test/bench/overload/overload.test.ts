import { join } from "node:path";
import { expect, test } from "vitest";
import { buildProduct } from "./product.ts";
import { recover } from "./recovery.ts";
import { Simulation } from "./simulation.ts";

/** A small load, and limits that it exceeds as a large one exceeds those of AWS. */
const load = { createsPerSecond: 15, listsPerSecond: 15 };
const rates = { read: 100, write: 100, burstSeconds: 0 };
const lightLoad = { createsPerSecond: 2, listsPerSecond: 2 };

/** How long lists may be refused and the stream may be late after the load, in seconds. */
const mostRecovery = 60;

test("an overload passes with its cause: no list is wrong, and soon after it all are answered and counted", async () => {
  const product = await buildProduct(join(import.meta.dirname, "../../.."));
  const simulation = new Simulation({ product, rates, leadBytes: 1000, accounts: ["acme"], seed: 1 });
  simulation.setLoads({ acme: load });
  await simulation.run(300);
  const refused = simulation.requests.filter(({ answer }) => answer === "busy").length;
  simulation.setLoads({ acme: lightLoad });
  const recovery = await recover(
    simulation,
    "acme",
    mostRecovery,
    () => simulation.service.source.age("acme") < 15_000,
  );
  const wrong = simulation.requests.filter(({ answer }) => answer === "wrong" || answer === "failed");
  expect(wrong).toEqual([]);
  expect(recovery).not.toBeNull();
  expect(simulation.service.source.discarded).toBe(0);
  // Otherwise nothing was tested.
  expect(refused).toBeGreaterThan(0);
});
