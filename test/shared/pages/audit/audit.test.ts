import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { GetCommand, PutCommand, QueryCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test, vi } from "vitest";
import { nodePrefix } from "../../../../shared/dynamodb/keys.ts";
import { Pace } from "../../../../shared/dynamodb/pace.ts";
import type { Item } from "../../../../shared/dynamodb/table-client.ts";
import { repair, toChange } from "../../../../shared/pages/audit/repair.ts";
import { verify } from "../../../../shared/pages/audit/verify.ts";
import { maintainList } from "../../../../shared/pages/maintain/maintain-list.ts";
import { type CountedOwner, countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { emptyRoot, rootItem } from "../../../../shared/pages/tree/root.ts";
import { readRoot, treeKey } from "../../../../shared/pages/tree/tree-store.ts";
import { skipWaits } from "../../../support/cases/skipped-waits.ts";
import { smallLimits } from "../../../support/requests/small-limits.ts";
import { putLeads } from "../../../support/tables/stored.ts";
import { WatchedTable } from "../../../support/tables/watched-table.ts";

const leads: CountedOwner = { account: "acme", list: countedLists.lead };
const webLeads = { ...leads, labelKey: "LEAD#acme#web" };
const deadline = Number.POSITIVE_INFINITY;
const maintenance = { deadline, limits: smallLimits };

/** Two days: the stream has no change of such a lead any more. */
const age = 48 * 3_600_000;

/** Writes counted leads of two sources. */
async function countedLeads(before: WatchedTable["before"] = () => {}) {
  vi.spyOn(console, "error").mockImplementation(() => {});
  const table = new WatchedTable();
  table.before = before;
  const { memory } = table;
  const items: Item[] = putLeads(
    memory,
    "acme",
    120,
    (i) => ({ source: i % 3 ? "web" : "fair" }),
    Date.now() - age,
  );
  await maintainList(leads, [], maintenance);
  return { memory, items };
}

/** Verifies without waiting. @param during called in place of each wait */
async function check(during: () => unknown = () => {}) {
  using waits = skipWaits(during);
  const { findings } = await verify(leads, { pace: new Pace(1_000_000) });
  return { findings, waits: waits.lengths };
}

test("correct trees are read once and consistently, and no index is read, because it may be late", async () => {
  await countedLeads((command) => {
    if (!(command instanceof QueryCommand)) return;
    const { IndexName, ConsistentRead } = command.input;
    expect({ IndexName, ConsistentRead }).toEqual({ IndexName: undefined, ConsistentRead: true });
  });
  expect((await readRoot(leads))?.level).toBeGreaterThan(1);
  expect(await check()).toMatchObject({ findings: [], waits: [] });
});

test("a row that has changed its source is found in the trees of both sources", async () => {
  const { memory, items } = await countedLeads();
  memory.put({ ...items[100], byLabel: "LEAD#acme#expo" });
  const { findings } = await check();
  expect(findings.map(({ owner }) => owner.labelKey)).toEqual(["LEAD#acme#web", "LEAD#acme#expo"]);
  await repair(leads, findings, maintenance);
  expect((await check()).findings).toEqual([]);
});

test("a change that is counted between the two looks is not reported, and neither is a change made between them", async () => {
  const { memory, items } = await countedLeads();
  memory.put({ ...items[100], status: "booked" });
  const { findings, waits } = await check(async () => {
    await maintainList(leads, [toChange(webLeads, String(items[100]?.sk))], maintenance);
    memory.put({ ...items[101], status: "booked" });
  });
  expect({ findings, waits }).toEqual({ findings: [], waits: [60_000] });
});

test("a tree that changes while it is read is not reported as damaged", async () => {
  let before = async () => {};
  const { memory, items } = await countedLeads(async (command) => {
    if (command instanceof GetCommand && String(command.input.Key?.sk).startsWith(nodePrefix)) await before();
  });
  before = async () => {
    before = async () => {};
    memory.put({ ...items[1], status: "booked" });
    await maintainList(leads, [toChange(webLeads, String(items[1]?.sk))], maintenance);
  };
  expect((await check()).findings).toEqual([]);
});

test("an expiring root of a list with rows is an empty tree, and the rows below its watermark are reported", async () => {
  const { memory, items } = await countedLeads();
  const left = { ...emptyRoot(Date.now()), version: 1, expiresAt: 1 };
  const plant = (watermark: string) =>
    memory.put({ ...treeKey(leads, "root"), ...rootItem({ ...left, watermark }) });
  plant("");
  expect(await check()).toEqual({ findings: [], waits: [] });
  plant(String(items[40]?.sk));
  const { findings } = await check();
  expect(findings).toMatchObject([{ owner: leads, damage: undefined }]);
  expect(findings[0]?.differences).toHaveLength(40);
  await repair(leads, findings, maintenance);
  expect((await readRoot(leads))?.expiresAt).toBeUndefined();
  expect((await check()).findings).toEqual([]);
});

test("a recorded label without a root is reported as damaged, unless the root is back at the second look", async () => {
  const { memory } = await countedLeads();
  const key = treeKey(webLeads, "root");
  const root = [...memory.items()].find((item) => item.pk === key.pk && item.sk === key.sk);
  memory.delete(key);
  const { findings } = await check();
  expect(findings).toMatchObject([
    { owner: webLeads, differences: [], damage: { name: "DamagedTreeError" } },
  ]);
  expect((await check(() => memory.put(Object(root)))).findings).toEqual([]);
});

test("the trees of an erased account and of a list without rows are not reported", async () => {
  const { memory, items } = await countedLeads();
  memory.delete(treeKey(webLeads, "root"));
  const erase = async () => {
    for (const item of items) memory.delete(item);
    const left = { ...emptyRoot(Date.now()), version: 1, expiresAt: 1 };
    memory.put({ ...treeKey(leads, "root"), ...rootItem(left) });
  };
  // The account is erased between two looks at its trees, and then before them.
  expect(await check(erase)).toEqual({ findings: [], waits: [60_000] });
  expect(await check()).toEqual({ findings: [], waits: [] });
  new WatchedTable();
  expect(await check()).toEqual({ findings: [], waits: [] });
});

test.each([
  [
    "other commits that come first until its time is up",
    new ConditionalCheckFailedException({ message: "changed", $metadata: {} }),
    "The time is up.",
  ],
  ["a write that the table refuses", new Error("on purpose"), "on purpose"],
])("a repair fails after %s", async (_, error, message) => {
  let fails = false;
  const { memory, items } = await countedLeads(async (command, _send) => {
    if (fails && (command instanceof PutCommand || command instanceof TransactWriteCommand)) throw error;
  });
  memory.put({ ...items[100], status: "booked" });
  const { findings } = await check();
  fails = true;
  vi.useFakeTimers({ toFake: ["Date"] });
  const repairing = repair(leads, findings, { ...maintenance, deadline: Date.now() + 1 });
  await expect(repairing).rejects.toThrow(message);
});
