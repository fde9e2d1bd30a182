import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { listLeads } from "../../../shared/domain/leads.ts";
import { drain } from "../../support/counted-world/drain.ts";
import { compareLists, readPage } from "../../support/counted-world/readers.ts";
import { leadRows } from "../../support/counted-world/row-kind.ts";
import { CountedWorld } from "../../support/counted-world.ts";
import { smallLimits } from "../../support/small-limits.ts";

const commit = ["PutCommand", "TransactWriteCommand"];

let world: CountedWorld;
beforeEach(() => {
  world = new CountedWorld(leadRows, smallLimits);
});
afterEach(() => world.io.restore());

/** Creates this many leads one after another and counts them. */
async function createCounted(leads: number): Promise<void> {
  for (let i = 0; i < leads; i++) {
    await world.create("a");
    await world.io.step(0);
    await world.io.advanceTo(world.io.now + 10);
  }
  await world.io.advanceTo(world.io.now + 10_000);
  await drain(world);
}

/** The filters of the lists of some sources, and of all. */
const filtersOf = (...origins: string[]) =>
  [undefined, ...origins].flatMap((origin) =>
    [undefined, ...leadRows.statuses].map((status) => ({ origin, status })),
  );

/** Starts a maintainer with all pending changes, stopped before its first call. */
const startMaintainer = () => world.deliver(Array(50).fill(0), []);

describe("a race of two maintainers over an insert and a deletion in one leaf", () => {
  test.each([
    ["insert", true],
    ["deletion", false],
  ])("counts both when the maintainer of the %s commits last", async (_, insertFirst) => {
    await createCounted(9);
    const insert = () => world.backdate(10_055, "a");
    const remove = () => world.delete(4);
    await (insertFirst ? insert : remove)();
    const slow = await startMaintainer();
    await world.io.runUntil(slow, ...commit);
    await (insertFirst ? remove : insert)();
    await world.io.finish(await startMaintainer());
    await world.io.finish(slow);
    await drain(world);
    world.io.check();
    await compareLists(world, filtersOf("a"));
  });
});

test("a maintainer recounts a leaf that another has counted in the meantime", async () => {
  await createCounted(9);
  await world.change(4, { status: "booked" });
  const slow = await startMaintainer();
  await world.io.runUntil(slow, ...commit);
  await world.change(4, { status: "qualified" });
  await world.io.finish(await startMaintainer());
  expect(await world.io.runUntil(slow, "wait")).toEqual([expect.stringMatching(/Put|TransactWrite/)]);
  const secondAttempt = await world.io.runUntil(slow, ...commit);
  expect(secondAttempt).toEqual(expect.arrayContaining(["wait", "GetCommand root", "QueryCommand"]));
  await world.io.finish(slow);
  world.io.check();
  await compareLists(world, filtersOf("a"));
});

test("a maintainer reads the root once per attempt, before any rows", async () => {
  await createCounted(9);
  await world.change(4, { status: "booked" });
  const first = await startMaintainer();
  const calls = await world.io.runUntil(first, ...commit);
  const firstRows = calls.indexOf("QueryCommand");
  expect(calls.slice(0, firstRows)).toEqual(["GetCommand root"]);
  expect(calls.slice(firstRows)).not.toContain("GetCommand root");
  expect(calls.filter((call) => call === "QueryCommand")).toHaveLength(2);
  await world.io.finish(first);
});

describe("a race of a page's reader with changes", () => {
  /** Starts a reader and stops it after it has read the root and the newest rows. */
  async function startReading(page: number, filter: { status?: "new" } = {}) {
    const responses: Awaited<ReturnType<typeof listLeads>>[] = [];
    const reader = await world.io.start("reader", async () => {
      responses.push(await listLeads(world.account, filter, { page, limit: 4 }));
    });
    await world.io.step(0);
    await world.io.step(0);
    expect(reader.done).toBe(false);
    const finish = async () => {
      await world.io.finish(reader);
      if (reader.error) throw reader.error;
      return responses[0];
    };
    return finish;
  }

  test.each([
    3, 4, 5, 6, 7, 8,
  ])("returns an exact page when the changes are counted in the meantime: page %i", async (page) => {
    await createCounted(40);
    const finish = await startReading(page, { status: "new" });
    for (const at of [2, 9, 16, 23, 30, 37]) await world.change(at, { status: "booked" });
    await world.io.finish(await startMaintainer());
    expect(await finish()).toEqual(world.response({ status: "new" }, page, 4));
  });

  test.each([
    2, 5, 9,
  ])("returns the page as it was when leads are created in the meantime: page %i", async (page) => {
    await createCounted(40);
    const expected = world.response({}, page, 4);
    const finish = await startReading(page);
    for (let i = 0; i < 7; i++) {
      await world.create("late");
      await world.io.step(1);
    }
    expect(await finish()).toEqual(expected);
  });
});

test("a maintainer with a slow clock counts the deletion of a row that one with a fast clock counted", async () => {
  for (let i = 0; i < 6; i++) {
    await world.create("a");
    await world.io.step(0);
  }
  await world.io.advanceTo(world.io.now + 4500);
  await world.io.finish(await world.deliver(Array(6).fill(0), [], 1000));
  await world.delete(2);
  await world.io.finish(await world.deliver([0], [], -1000));
  await compareLists(world, filtersOf("a"));
});

test.each([
  ["maintainer", 0, startMaintainer],
  ["rebuild", 5, () => world.rebuild()],
])("a %s that is interrupted before it reads the root leaves the watermark where another moved it", async (_, calls, start) => {
  await createCounted(9);
  await world.change(4, { status: "booked" });
  await start();
  await world.io.run(0, calls);
  await world.io.advanceTo(world.io.now + 20_000);
  await world.createMany(4, "a");
  await world.io.advanceTo(world.io.now + 20_000);
  // The environment remembers the tail without the back-dated lead.
  await readPage(world, { filter: {}, page: 1 });
  await world.backdate(10_000, "a");
  await world.io.finish(await startMaintainer());
  await world.io.run(0, 20);
  await compareLists(world, [{}]);
});

test("lists are exact while the maintainer is stopped and after it has caught up", async () => {
  await createCounted(12);
  for (let i = 0; i < 30; i++) {
    await world.create(i % 3 ? "a" : "b");
    await world.io.step(0);
    await world.io.advanceTo(world.io.now + 1000);
    if (i % 10 === 9) await compareLists(world, filtersOf("a", "b"));
  }
  await drain(world);
  await compareLists(world, filtersOf("a", "b"));
});

test.each([
  [5000, "counted"],
  [1000, "missing until the stream delivers it"],
])("with an allowed lateness of %i ms, a lead that lands 2 s after its id was created is %s", async (allowedLateness, outcome) => {
  world.io.restore();
  world = new CountedWorld(leadRows, { ...smallLimits, allowedLateness });
  await world.create("late");
  for (let i = 0; i < 6; i++) {
    await world.create("a");
    await world.io.step(1);
  }
  await world.io.advanceTo(world.io.now + 2000);
  await world.io.finish(await startMaintainer());
  await world.io.step(0);
  const read = readPage(world, { filter: {}, page: 1 });
  await (outcome === "counted" ? expect(read).resolves.toBeUndefined() : expect(read).rejects.toThrow());
});
