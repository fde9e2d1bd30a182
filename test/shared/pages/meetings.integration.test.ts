import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { listLeads } from "../../../shared/leads.ts";
import { CountedWorld } from "../../support/counted-world.ts";
import { smallLimits } from "../../support/small-limits.ts";

const commit = ["PutCommand", "TransactWriteCommand"];

let world: CountedWorld;
beforeEach(() => {
  world = new CountedWorld(smallLimits);
});
afterEach(() => world.io.restore());

/** So many leads, created one after another and counted. */
async function counted(leads: number): Promise<void> {
  for (let i = 0; i < leads; i++) {
    await world.create("a");
    await world.io.step(0);
    await world.io.advanceTo(world.io.now + 10);
  }
  await world.io.advanceTo(world.io.now + 10_000);
  await world.drain();
}

/** Delivers everything that is pending to a new maintainer, which has made no call yet. */
const maintainer = () => world.deliver(Array(50).fill(0), []);

describe("an insert and a deletion in one leaf, counted by two maintainers", () => {
  test.each([
    ["the insert's", true],
    ["the deletion's", false],
  ])("are both counted when %s comes last", async (_, insertFirst) => {
    await counted(9);
    const insert = () => world.backdate(10_055, "a");
    const remove = () => world.delete(4);
    await (insertFirst ? insert : remove)();
    const slow = await maintainer();
    await world.io.runUntil(slow, ...commit);
    await (insertFirst ? remove : insert)();
    await world.io.finish(await maintainer());
    await world.io.finish(slow);
    await world.drain();
    world.io.check();
    await world.compare([undefined, "a"]);
  });
});

test("a maintainer whose leaf was counted later by another counts it again", async () => {
  await counted(9);
  await world.changeStatus(4, "booked");
  const slow = await maintainer();
  await world.io.runUntil(slow, ...commit);
  await world.changeStatus(4, "qualified");
  await world.io.finish(await maintainer());
  expect(await world.io.runUntil(slow, "wait")).toEqual([expect.stringMatching(/Put|TransactWrite/)]);
  const again = await world.io.runUntil(slow, ...commit).catch((error: Error) => error);
  expect(again).toEqual(expect.arrayContaining(["wait", "GetCommand", "QueryCommand"]));
  await world.io.finish(slow);
  await world.compare([undefined, "a"]);
});

test("a maintainer reads the root before all rows, in each attempt", async () => {
  await counted(9);
  await world.changeStatus(4, "booked");
  const first = await maintainer();
  const calls = await world.io.runUntil(first, ...commit);
  expect(calls[0]).toBe("GetCommand");
  expect(calls.filter((call) => call === "QueryCommand")).toHaveLength(2);
  await world.io.finish(first);
});

describe("a page that is read while the maintainer advances", () => {
  test.each([2, 4, 7])("is exact, and so is its total: page %i", async (page) => {
    await counted(40);
    const limit = 4;
    let answer: Awaited<ReturnType<typeof listLeads>> | undefined;
    const reader = await world.io.start("reader", async () => {
      answer = await listLeads(world.account, {}, { page, limit });
    });
    // The root and the newest rows are read; the next call is for a node, or for the rows.
    await world.io.step(0);
    await world.io.step(0);
    for (const age of [10_395, 10_205, 10_105]) await world.backdate(age, "b");
    await world.delete(20);
    await world.io.finish(await maintainer());
    await world.io.finish(reader);
    expect(reader.error).toBeUndefined();
    expect(answer?.data).toHaveLength(limit);
    expect(answer?.data.every(({ id }) => world.leads.has(id))).toBe(true);
    // Read again with nobody else about, page and total are exact.
    await world.read(page);
    expect(world.leads.size).toBe(42);
  });
});

test("lists are exact while the maintainer is stopped, and after it has caught up", async () => {
  await counted(12);
  for (let i = 0; i < 30; i++) {
    await world.create(i % 3 ? "a" : "b");
    await world.io.step(0);
    await world.io.advanceTo(world.io.now + 1000);
    if (i % 10 === 9) await world.compare([undefined, "a", "b"]);
  }
  await world.drain();
  await world.compare([undefined, "a", "b"]);
});

test.each([
  [5000, "counted"],
  [1000, "lost until the stream brings it"],
])("with a settle of %i ms a lead that lands 2 s after its id is %s", async (settle, outcome) => {
  world.io.restore();
  world = new CountedWorld({ ...smallLimits, settle });
  await world.create("late");
  for (let i = 0; i < 6; i++) {
    await world.create("a");
    await world.io.step(1);
  }
  await world.io.advanceTo(world.io.now + 2000);
  await world.io.finish(await maintainer());
  await world.io.step(0);
  const read = world.read(1);
  await (outcome === "counted" ? expect(read).resolves.toBeUndefined() : expect(read).rejects.toThrow());
});
