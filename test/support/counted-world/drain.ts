import type { CountedWorld } from "../counted-world.ts";
import { checkTrees } from "./check-trees.ts";
import { allFilters, compareLists } from "./readers.ts";

/** More steps than any schedule needs. */
const maxSteps = 5000;
const maxDeliveries = 200;

/** Runs every actor to its end and delivers all changes. */
export async function drain(world: CountedWorld): Promise<void> {
  const { io, stream } = world;
  for (let steps = 0; io.waiting > 0; steps++) {
    if (steps > maxSteps) throw new Error(`The actors do not end: ${io.describe()}`);
    await io.step(steps);
  }
  for (let deliveries = 0; stream.pending.length > 0; deliveries++) {
    if (deliveries > maxDeliveries) throw new Error("The stream's changes are not counted.");
    await io.advanceTo(io.now + 10_000);
    const maintainer = await world.deliver(stream.pending.map(() => 0));
    await io.finish(maintainer);
    if (maintainer.error) throw maintainer.error;
  }
  io.check();
}

/** Checks every list and every tree, when all changes are counted and the indexes are up to date. */
export async function checkWorld(world: CountedWorld): Promise<void> {
  world.table.lags = [];
  await world.io.alone(() => checkTrees(world));
  await compareLists(world, allFilters(world));
}
