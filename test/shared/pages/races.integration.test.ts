import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { listLeads } from "../../../shared/domain/leads.ts";
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
  const again = await world.io.runUntil(slow, ...commit);
  expect(again).toEqual(expect.arrayContaining(["wait", "GetCommand root", "QueryCommand"]));
  await world.io.finish(slow);
  world.io.check();
  await world.compare([undefined, "a"]);
});

test("a maintainer reads the root before all rows, and never after one, in each attempt", async () => {
  await counted(9);
  await world.changeStatus(4, "booked");
  const first = await maintainer();
  const calls = await world.io.runUntil(first, ...commit);
  const firstRows = calls.indexOf("QueryCommand");
  expect(calls.slice(0, firstRows)).toEqual(["GetCommand root"]);
  expect(calls.slice(firstRows)).not.toContain("GetCommand root");
  expect(calls.filter((call) => call === "QueryCommand")).toHaveLength(2);
  await world.io.finish(first);
});

describe("a page that is read in the middle of changes", () => {
  /** Has a reader read the root and the newest rows, and stop there. */
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

  test.each([3, 4, 5, 6, 7, 8])("is exact when they were counted meanwhile: page %i", async (page) => {
    await counted(40);
    const finish = await startReading(page, { status: "new" });
    for (const at of [2, 9, 16, 23, 30, 37]) await world.changeStatus(at, "booked");
    await world.io.finish(await maintainer());
    expect(await finish()).toEqual(world.response({ status: "new" }, page, 4));
  });

  test.each([
    2, 5, 9,
  ])("is the page that was asked for when leads are created meanwhile: page %i", async (page) => {
    await counted(40);
    const expected = world.response({}, page, 4);
    const finish = await startReading(page);
    for (let i = 0; i < 7; i++) {
      await world.create("late");
      await world.io.step(1);
    }
    expect(await finish()).toEqual(expected);
  });
});

test("a deletion that a slower clock is told of is counted, though a faster one counted the row", async () => {
  for (let i = 0; i < 6; i++) {
    await world.create("a");
    await world.io.step(0);
  }
  await world.io.advanceTo(world.io.now + 4500);
  await world.io.finish(await world.deliver(Array(6).fill(0), [], 1000));
  await world.delete(2);
  await world.io.finish(await world.deliver([0], [], -1000));
  await world.compare([undefined, "a"]);
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
])("with a settle of %i ms a lead that lands 2 s after its id is %s", async (allowedLateness, outcome) => {
  world.io.restore();
  world = new CountedWorld({ ...smallLimits, allowedLateness });
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
