import { DeleteCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { filteredRange } from "../../../shared/pages/read/counted-range.ts";
import type { Limits } from "../../../shared/pages/tree/tree-limits.ts";
import { treeKey } from "../../../shared/pages/tree/tree-store.ts";
import { recount } from "../../support/counted-world/check-trees.ts";
import { checkWorld, drain } from "../../support/counted-world/drain.ts";
import { compareLists, readPage } from "../../support/counted-world/readers.ts";
import { leadRows } from "../../support/counted-world/row-kind.ts";
import { CountedWorld } from "../../support/counted-world.ts";
import { smallLimits } from "../../support/small-limits.ts";

const commit = ["PutCommand", "TransactWriteCommand"];

let world: CountedWorld;
beforeEach(async () => {
  world = await countedWorld(smallLimits);
});
afterEach(() => world.io.restore());

/** A world in which the source `a` has a tree with nine leads. */
async function countedWorld(limits: Limits): Promise<CountedWorld> {
  world = new CountedWorld(leadRows, limits);
  await create(..."aaaaaaaaa");
  await world.io.advanceTo(world.io.now + 10_000);
  await drain(world);
  return world;
}

/** Creates leads with these sources, one after another. */
async function create(...sources: string[]): Promise<void> {
  for (const source of sources) {
    await world.createMany(1, source);
    await world.io.advanceTo(world.io.now + 10);
  }
}

/** Starts a maintainer with all changes, stopped before its first call. */
const startMaintainer = (skew = 0) =>
  world.deliver(
    world.stream.pending.map(() => 0),
    [],
    skew,
  );

/** Delivers all changes to a maintainer and runs it to its end. */
async function maintain(skew = 0): Promise<void> {
  const maintainer = await startMaintainer(skew);
  await world.io.finish(maintainer);
  if (maintainer.error) throw maintainer.error;
}

describe("two maintainers, of which the slower one read a node before the other's commit", () => {
  const insert = () => world.backdate(10_055, "a");
  const remove = () => world.delete(4);

  test.each([
    ["an insert", insert, remove],
    ["a deletion", remove, insert],
  ])("count both of their changes, %s last", async (_, first, second) => {
    await first();
    const slow = await startMaintainer();
    await world.io.runUntil(slow, ...commit);
    await second();
    await maintain();
    await world.io.finish(slow);
    await drain(world);
    await checkWorld(world);
  });

  test("read each root once per attempt, before the rows, and the slower one starts again", async () => {
    await world.change(4, { status: "booked" });
    const slow = await startMaintainer();
    const calls = await world.io.runUntil(slow, ...commit);
    expect(calls).toEqual(["GetCommand root", "QueryCommand", ...calls.slice(2)]);
    expect(calls.slice(2)).not.toContain("GetCommand root");
    expect(calls).toContain("BatchGetCommand");
    await world.change(4, { status: "qualified" });
    await maintain();
    expect(await world.io.runUntil(slow, "wait")).toEqual([expect.stringMatching(/Put|TransactWrite/)]);
    const again = await world.io.runUntil(slow, ...commit);
    expect(again.slice(0, 3)).toEqual(["wait", "GetCommand root", "QueryCommand"]);
    await world.io.finish(slow);
    await drain(world);
    await checkWorld(world);
  });
});

test("a maintainer with a slow clock counts the deletion of a row that one with a fast clock counted", async () => {
  await create(..."aaaaaa");
  await world.io.advanceTo(world.io.now + 4500);
  await maintain(1000);
  await world.delete(11);
  await maintain(-1000);
  await compareLists(world, [{}, { origin: "a" }]);
});

test("a maintainer that sleeps before it reads the root leaves the watermark where another moved it", async () => {
  await world.change(4, { status: "booked" });
  const sleeper = await startMaintainer();
  await world.io.advanceTo(world.io.now + 20_000);
  await world.createMany(4, "a");
  await world.io.advanceTo(world.io.now + 20_000);
  // The environment remembers the tail without the back-dated lead.
  await readPage(world, { filter: {}, page: 1 });
  await world.backdate(10_000, "a");
  await maintain();
  await world.io.finish(sleeper);
  await compareLists(world, [{}]);
});

test.each([
  [5000, "counted"],
  [1000, "missing until the stream delivers it"],
])("with an allowed lateness of %i ms, a lead that lands 2 s after its id was created is %s", async (allowedLateness, outcome) => {
  world.io.restore();
  world = new CountedWorld(leadRows, { ...smallLimits, allowedLateness });
  await world.create("late");
  await world.createMany(6, "a");
  await world.io.advanceTo(world.io.now + 2000);
  await maintain();
  await world.io.step(0);
  const read = readPage(world, { filter: {}, page: 1 });
  await (outcome === "counted" ? expect(read).resolves.toBeUndefined() : expect(read).rejects.toThrow());
});

/** The root of the source `a` is lost, and its tree is counted again. */
const loseRoot = () =>
  world.io.alone(async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const { tree } = filteredRange(world.account, world.kind.list, { sourceOrChannel: "a" });
    await table.send(new DeleteCommand({ TableName: tableName, Key: treeKey(tree, "root") }));
    await recount(world, tree, undefined);
  });

/** The sources of leads that a maintainer counts and feeds, of which the first one has the index 9, and what happens meanwhile. */
const races: [string, string, () => Promise<unknown>][] = [
  ["a change of a lead in the trees", "bbbb", () => world.change(2, { status: "booked" })],
  ["a change of a lead that is fed", "bbbb", () => world.change(10, { status: "booked" })],
  ["a move of a lead that is fed to a source with a tree", "bbbb", () => world.change(10, { origin: "a" })],
  ["a move to the source that is fed", "bbbb", () => world.change(2, { origin: "b" })],
  ["a deletion of a lead without which counting does not pay", "bbcd", () => world.delete(10)],
  ["a deletion of a lead without which a feed does not pay", "bbbcde", () => world.delete(10)],
  ["a back-dated lead", "bbbb", () => world.backdate(19_980, "b")],
  ["a recount of the tree that is fed", "aaaa", loseRoot],
];

describe.each(races)("%s", (_, sources, change) => {
  test.each([
    ["is up to date", []],
    ["never has the new leads", [Number.POSITIVE_INFINITY]],
  ])("is counted after whichever calls a slow maintainer of earlier changes stops, when the index %s", async (_, lags) => {
    let isDone = false;
    for (let calls = 0; !isDone; calls++) {
      world.io.restore();
      world = await countedWorld({ ...smallLimits, nodesWritten: 90, sublistRows: 3 });
      await create(...sources);
      await world.change(2, { status: "qualified" });
      await world.io.advanceTo(world.io.now + 20_000);
      world.table.lags = lags;
      const slow = await startMaintainer();
      await world.io.run(0, calls);
      isDone = slow.done;
      await change();
      await maintain();
      if (!slow.done) await world.io.finish(slow);
      await drain(world);
      await checkWorld(world);
    }
  });
});
