import { beforeEach, expect, test } from "vitest";
import { readRows } from "../../../../shared/pages/tree/rows.ts";
import type { Limits } from "../../../../shared/pages/tree/tree-limits.ts";
import { readRoot } from "../../../../shared/pages/tree/tree-store.ts";
import { expectCounted, expectLists, treeOf } from "../../../support/expect-counted.ts";
import { LeadHistory } from "../../../support/history.ts";
import { smallLimits } from "../../../support/small-limits.ts";
import type { WatchedCall } from "../../../support/watched-table.ts";

/** Names of which some begin with others. */
const sources = ["web", "web2", "web#2", "we"];
const filters = [undefined, ...sources].flatMap((source) => [
  { ...(source && { source }) },
  { ...(source && { source }), status: "booked" as const },
]);
const limits: Limits = { ...smallLimits, nodesWritten: 95, fedRows: 14 };

let history: LeadHistory;
beforeEach(() => {
  history = new LeadHistory();
});

/** Adds leads of all sources in turn, old enough to be counted. */
function addLeads(count: number): void {
  for (let i = 0; i < count; i++)
    history.add({
      age: 60_000 - 100 * i,
      source: sources[i % sources.length] ?? "",
      status: i % 3 === 0 ? "booked" : "new",
    });
}

const isCommit = ({ name }: WatchedCall) => name === "PutCommand" || name === "TransactWriteCommand";

test("sources whose names begin alike have trees of their own", async () => {
  addLeads(40);
  await history.deliver(limits);
  expect((await expectCounted(history, sources)).fed).toBe((await readRoot(history.owner))?.watermark);
  const trees = await Promise.all(sources.map((source) => readRoot(treeOf(history, source))));
  expect(trees.map((root) => root?.buffer.length)).not.toContain(0);
  for (const [n, id] of [...history.rows.keys()].entries()) {
    if (n % 5 === 0) history.setStatus(id, "qualified");
    if (n % 7 === 0) history.delete(id);
  }
  await history.deliver(limits);
  await expectCounted(history, sources);
  await expectLists(history, filters);
});

test("a range ends before the row at its end", async () => {
  addLeads(4);
  const [first = "", second, third = ""] = history.rows.keys();
  const { rows } = await readRows(history.owner, { start: first, end: third, maxRows: 10 });
  expect(rows.map(({ sk }) => sk)).toEqual([first, second]);
});

test("a list that is far behind is fed in portions", async () => {
  addLeads(100);
  const { calls } = await history.table.watch(() => history.deliver(limits));
  await expectCounted(history, sources);
  const fed = calls.filter(isCommit).map(({ input }) => JSON.stringify(input).match(/"fed":"(\w+)!?"/)?.[1]);
  expect(new Set(fed.filter((key) => key !== undefined)).size).toBeGreaterThanOrEqual(
    Math.floor(100 / limits.fedRows),
  );
});

test("a list is fed when rows of it are in nodes: before, the trees of its sources would cost more than they save", async () => {
  addLeads(limits.nodeRows);
  await history.deliver(limits);
  expect((await expectCounted(history)).buffer).toHaveLength(limits.nodeRows);
  expect(await readRoot(treeOf(history, sources[0]))).toBeUndefined();
  history.advance(60_000);
  addLeads(limits.nodeRows);
  await history.deliver(limits);
  const { fed, watermark } = await expectCounted(history, sources);
  expect(fed).toBe(watermark);
});
