import { PutCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test, vi } from "vitest";
import { table } from "../../../../shared/dynamodb/table-client.ts";
import { toChange } from "../../../../shared/pages/audit/repair.ts";
import { maintainList } from "../../../../shared/pages/maintain/maintain-list.ts";
import { keyAt } from "../../../../shared/pages/tree/counted-list.ts";
import { emptyRoot } from "../../../../shared/pages/tree/root.ts";
import { limits } from "../../../../shared/pages/tree/tree-limits.ts";
import { commit, readRoot } from "../../../../shared/pages/tree/tree-store.ts";
import { expectCounted, expectLists, treeOf } from "../../../support/cases/expect-counted.ts";
import { countedLeads, LeadHistory } from "../../../support/cases/history.ts";
import { smallLimits } from "../../../support/requests/small-limits.ts";

const source = "web";

const nth = ({ rows }: LeadHistory, n: number) => [...rows.keys()].at(n) ?? "";

test("rows that arrive one at a time are not counted until they exceed the limit of the tail", async () => {
  const history = new LeadHistory();
  const addOne = () => {
    history.add();
    history.advance(10_000);
    return history.deliver();
  };
  for (let n = 1; n <= limits.tail; n++) await addOne();
  expect(await readRoot(history.owner)).toBeUndefined();
  await addOne();
  expect((await expectCounted(history)).buffer).toHaveLength(limits.tail + 1);
});

test("large rows are counted although they are few, and small ones are not", async () => {
  const history = await countedLeads(60, { source }, smallLimits);
  history.addMany(limits.tail, { age: 10_000, source, padding: 500 });
  const before = await readRoot(history.owner);
  await history.deliver();
  expect(await readRoot(history.owner)).toEqual(before);
  history.addMany(6, { age: 9000, source, padding: 30_000 });
  await history.deliver();
  const { watermark, fed } = await expectCounted(history, [source]);
  expect(watermark > nth(history, -1)).toBe(true);
  // The large rows are also in the tree of their source.
  expect(fed).toBe(watermark);
  expect((await history.table.watch(() => history.list({}, { page: 1, limit: 1 }))).units).toBeLessThan(20);
});

test("a list feeds the trees of its sources once it has nodes: before, these trees would cost more than they save", async () => {
  const history = new LeadHistory();
  const limits = { ...smallLimits, fedRows: 2 * smallLimits.nodeRows, nodesWritten: 95 };
  history.addMany(limits.nodeRows, { age: 60_000, source });
  await history.deliver(limits);
  expect((await expectCounted(history)).buffer).toHaveLength(limits.nodeRows);
  expect(await readRoot(treeOf(history, source))).toBeUndefined();
  history.advance(60_000);
  history.addMany(limits.nodeRows, { age: 60_000, source });
  await history.deliver(limits);
  const { fed, watermark } = await expectCounted(history, [source]);
  expect(fed).toBe(watermark);
});

test("neither a maintainer nor a list ends its tail at an empty page that is not the last page", async () => {
  const history = new LeadHistory();
  const { memory } = history.table;
  vi.spyOn(table, "send").mockImplementation((async (command: object) => {
    if (!(command instanceof QueryCommand)) return memory.send(command);
    const { ExclusiveStartKey: position } = command.input;
    if (!position) return { Items: [], LastEvaluatedKey: { pk: `LEAD#${history.account}`, sk: "empty" } };
    if (position.sk !== "empty") return memory.send(command);
    return memory.send(new QueryCommand({ ...command.input, ExclusiveStartKey: undefined }));
  }) as never);
  history.addMany(60, { age: 10_000 });
  await history.deliver();
  history.advance(100_000);
  history.addMany(30, { age: 10_000 });
  const pages = [1, 2, 4, 5].map((page) => ({ page, limit: 20 }));
  await expectLists(history, [{}], pages);
  await history.deliver();
  await expectLists(history, [{}], pages);
});

test("the root of an erased account expires, unless its list has rows again", async () => {
  const history = new LeadHistory();
  await commit(history.owner, { ...emptyRoot(history.now), expiresAt: 2_000_000_000 });
  history.addMany(20, { age: 60_000, source });
  for (const id of history.rows.keys()) history.delete(id);
  await history.deliver(smallLimits);
  expect(await readRoot(history.owner)).toMatchObject({ expiresAt: 2_000_000_000, watermark: "" });
  expect(await readRoot(treeOf(history, source))).toBeUndefined();
  history.addMany(20, { age: 60_000, source });
  await history.deliver(smallLimits);
  expect((await expectCounted(history, [source])).expiresAt).toBeUndefined();
});

/** An erased account that has a row again, below the watermark of its root. */
async function erasedHistory() {
  const history = new LeadHistory();
  const watermark = keyAt(history.owner.list, history.now - limits.allowedLateness);
  await commit(history.owner, { ...emptyRoot(history.now), watermark, expiresAt: 2_000_000_000 });
  const change = toChange(history.owner, history.add({ age: 3_600_000 }));
  const count = () => maintainList(history.owner, [change], { deadline: Number.POSITIVE_INFINITY });
  return { history, key: change.key, count };
}

test("a row of an erased account below its watermark is counted, and the root no longer expires", async () => {
  const { history, key, count } = await erasedHistory();
  await count();
  const { watermark, expiresAt } = await expectCounted(history);
  expect(watermark > key).toBe(true);
  expect(expiresAt).toBeUndefined();
});

test("a row of an erased account that is deleted while a slow maintainer counts it is not counted", async () => {
  const { history, key, count } = await erasedHistory();
  history.table.before = async (command) => {
    if (!(command instanceof PutCommand)) return;
    history.table.before = () => {};
    // Another maintainer counts the deletion before the first commit.
    history.delete(key);
    await count();
  };
  await count();
  expect(history.rows.size).toBe(0);
  await expectCounted(history);
});
