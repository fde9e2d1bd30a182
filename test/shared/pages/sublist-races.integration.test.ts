import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Limits } from "../../../shared/pages/tree/tree-limits.ts";
import { sublistsWithTrees } from "../../support/counted-world/check-trees.ts";
import { checkWorld, drain } from "../../support/counted-world/drain.ts";
import { longestLag } from "../../support/counted-world/lagging-table.ts";
import { compareLists, readPage } from "../../support/counted-world/readers.ts";
import { leadRows } from "../../support/counted-world/row-kind.ts";
import { CountedWorld } from "../../support/counted-world.ts";
import type { Actor } from "../../support/interleaving.ts";
import { smallLimits } from "../../support/small-limits.ts";

const filter = { origin: "a" };
/** A maintainer looks at the tail of a sublist only after three of its rows. */
const limits: Limits = { ...smallLimits, lookEvery: 1000, manyRows: 3 };
const late = [{ by: longestLag, some: false }];
/** After how many of its calls a maintainer is interrupted: more than it makes. */
const calls = Array.from({ length: 20 }, (_, i) => i);

let world: CountedWorld;
/** The source `a` has a tree with five leads. */
beforeEach(async () => {
  world = new CountedWorld(leadRows, limits);
  await create("a", "a", "a", "a", "a");
  await world.io.advanceTo(world.io.now + 10_000);
  await drain(world);
});
afterEach(() => world.io.restore());

/** Creates leads with these sources, one after another. */
async function create(...sources: string[]): Promise<void> {
  for (const source of sources) {
    await world.create(source);
    await world.io.step(0);
    await world.io.advanceTo(world.io.now + 10);
  }
}

/** Starts a maintainer with all changes, stopped before its first call. */
const startMaintainer = () => world.deliver(world.stream.pending.map(() => 0));

/** Delivers all changes to a maintainer and runs it to its end. */
async function maintain(): Promise<void> {
  const maintainer = await startMaintainer();
  await world.io.finish(maintainer);
  if (maintainer.error) throw maintainer.error;
}

test("a lead that moves to a source whose index is late is counted there", async () => {
  await create("b");
  await drain(world);
  await world.io.advanceTo(world.io.now + 60_000);
  await world.change(5, { origin: "a" });
  world.table.lags = late;
  await maintain();
  await create("a", "a", "a");
  await drain(world);
  await checkWorld(world);
});

test("an environment that remembers the leads of a source lists one that is back-dated among them", async () => {
  await create("a");
  await drain(world);
  await world.io.advanceTo(world.io.now + 70_000);
  await readPage(world, { filter, page: 1 });
  await world.backdate(65_000, "a");
  await maintain();
  await compareLists(world, [filter]);
  expect(world.response(filter, 1, 10).pagination.total).toBe(7);
});

test("an environment forgets a lead of a source that it remembered when its deletion is counted", async () => {
  await create("a");
  await drain(world);
  await world.io.advanceTo(world.io.now + 80_000);
  await readPage(world, { filter, page: 1 });
  await world.delete(5);
  await maintain();
  await compareLists(world, [filter]);
});

test("a change of the tail is counted although the index is late when the watermark passes it", async () => {
  await create("a", "a", "a");
  await drain(world);
  await world.io.advanceTo(world.io.now + 15_000);
  await world.change(5, { status: "booked" });
  await maintain();
  await world.io.advanceTo(world.io.now + 10_000);
  world.table.lags = late;
  await create("a", "a", "a");
  await maintain();
  await checkWorld(world);
});

test("a change that came before the tree is counted although the index is late", async () => {
  await create("b", "b", "b");
  await world.io.advanceTo(world.io.now + 60_000);
  const creations = world.stream.take([0, 0, 0]);
  await world.change(5, { status: "booked" });
  await maintain();
  world.stream.pending.push(...creations);
  world.table.lags = late;
  await maintain();
  await checkWorld(world);
});

test("an environment does not remember a lead that is deleted, but still in a late index", async () => {
  await create("a", "a");
  await drain(world);
  await world.io.advanceTo(world.io.now + 17_000);
  await world.delete(5);
  await maintain();
  await world.io.advanceTo(world.io.now + 12_000);
  world.table.lags = late;
  await readPage(world, { filter, page: 1 });
  await checkWorld(world);
});

test("no tree is made for deleted leads of a source that a late index still lists", async () => {
  await create("b", "b", "b");
  await world.io.advanceTo(world.io.now + 60_000);
  for (const _ of [5, 6, 7]) await world.delete(5);
  world.table.lags = late;
  await maintain();
  expect(sublistsWithTrees(leadRows, world.account, world.table.memory)).toHaveLength(1);
});

describe.each(calls)("a maintainer that is interrupted after %i calls", (calls) => {
  /** Starts a maintainer with all changes and ends it after something else has been counted. */
  async function interrupt(change: () => Promise<void>): Promise<void> {
    const slow = await startMaintainer();
    await world.io.run(0, calls);
    await change();
    await maintain();
    await world.io.finish(slow);
    await drain(world);
    await checkWorld(world);
  }

  test("counts the later one of two changes of a lead", async () => {
    await world.change(2, { status: "qualified" });
    await interrupt(() => world.change(2, { status: "booked" }));
  });

  test("counts a change while it makes the tree", async () => {
    await create("b", "b", "b", "b", "b", "b");
    await world.io.advanceTo(world.io.now + 60_000);
    await interrupt(() => world.change(5, { status: "booked" }));
  });

  test("counts a back-dated lead that a late index does not have while the watermark passes it", async () => {
    await create("a", "a", "a");
    await world.io.advanceTo(world.io.now + 50_000);
    world.table.lags = late;
    await interrupt(() => world.backdate(40_000, "a"));
  });

  test("counts a deletion while the watermark passes the lead", async () => {
    await create("a", "a", "a");
    await world.io.advanceTo(world.io.now + 50_000);
    await interrupt(() => world.delete(6));
  });
});

describe.each(calls)("a maintainer that sleeps after %i calls", (calls) => {
  const changes = [
    ["change", () => world.change(6, { status: "booked" })],
    ["back-dated lead", () => world.backdate(29_500, "a")],
  ] as const;

  /** Wakes the maintainer when others have counted the changes, and counts the tail while the index is late. */
  async function wake(sleeper: Actor): Promise<void> {
    await maintain();
    world.table.lags = late;
    if (!sleeper.done) await world.io.finish(sleeper);
    await world.io.advanceTo(world.io.now + 10_000);
    await create("a", "a", "a");
    await maintain();
    await drain(world);
    await checkWorld(world);
  }

  test.each(changes)("does not hide a %s of the tail that others have counted", async (_, change) => {
    await create("a");
    await world.change(5, { status: "qualified" });
    await world.backdate(1000, "a");
    const sleeper = await startMaintainer();
    await world.io.run(0, calls);
    await create("a", "a");
    await world.io.advanceTo(world.io.now + 30_000);
    await change();
    await wake(sleeper);
  });

  test.each(changes)("does not miss a %s that came before the tree that it makes", async (_, change) => {
    world.io.restore();
    world = new CountedWorld(leadRows, limits);
    await create("a", "a", "a", "a", "a", "a", "a");
    const sleeper = await startMaintainer();
    await world.io.run(0, calls);
    await world.io.advanceTo(world.io.now + 40_000);
    await change();
    await wake(sleeper);
  });
});
