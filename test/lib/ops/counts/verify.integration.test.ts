import { randomUUID } from "node:crypto";
import { DeleteCommand, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { ulid } from "ulid";
import { expect, test } from "vitest";
import type { Difference } from "../../../../lib/ops/counts/compare-tree.ts";
import { rebuild } from "../../../../lib/ops/counts/rebuild.ts";
import { verify } from "../../../../lib/ops/counts/verify.ts";
import { conversationKey, countNodeKey, leadKey } from "../../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { maintain } from "../../../../shared/pages/maintain/maintain.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { decodeEntries, type Entry, encodeEntries } from "../../../../shared/pages/tree/entry.ts";
import { readRoot } from "../../../../shared/pages/tree/tree-store.ts";
import { smallLimits } from "../../../support/small-limits.ts";

const limits = smallLimits;
const start = Date.UTC(2026, 0, 1);

/** Creates an account with counted leads, in a tree of several levels. */
async function countedLeads(count: number) {
  const owner = { account: randomUUID(), list: countedLists.lead };
  const ids = Array.from({ length: count }, (_, i) => `lead_${ulid(start + i * 1000)}`);
  for (const id of ids) await putLead(owner.account, id);
  await maintain(owner, ids, { deadline: Date.now() + 60_000, limits });
  return { owner, ids };
}

async function putLead(account: string, id: string, status = "new") {
  const Item = { ...leadKey(account, id), id, status, source: "web" };
  await table.send(new PutCommand({ TableName: tableName, Item }));
}

type Owner = Awaited<ReturnType<typeof countedLeads>>["owner"];

/** Changes the entries of the first node of a level, which maintainers do not notice. */
async function tamper(owner: Owner, level: number, change: (entries: Entry[]) => Entry[]) {
  const root = await readRoot(owner);
  const key = countNodeKey("lead", owner.account, `node#${root?.generation}#${level}#`);
  const { Item } = await table.send(new GetCommand({ TableName: tableName, Key: key }));
  const entries = encodeEntries(change(decodeEntries(Item?.entries)));
  await table.send(new PutCommand({ TableName: tableName, Item: { ...Item, ...key, entries } }));
}

const addOne = ([first, ...others]: Entry[]): Entry[] => {
  if (!first) throw new Error("The node has no entries.");
  const [[cell, count] = [0, 0]] = first.cells;
  return [{ ...first, cells: new Map([...first.cells, [cell, count + 1]]) }, ...others];
};

/** Runs `verify` and records its waits and rows. `during` runs before each further comparison. */
async function runVerify(owner: Owner, during: (comparison: number) => Promise<unknown> = async () => {}) {
  const waits: number[] = [];
  let rows = 0;
  const differences = await verify(owner, {
    limits,
    onRows: (read) => {
      rows += read;
    },
    wait: async (milliseconds) => {
      waits.push(milliseconds);
      await during(waits.length + 1);
    },
  });
  return { differences, waits, rows };
}

const levels = (differences: Difference[]) => differences.map(({ level }) => level).sort();

test("a correct tree is read once", async () => {
  const { owner } = await countedLeads(400);
  expect((await readRoot(owner))?.level).toBeGreaterThan(1);
  expect(await runVerify(owner)).toEqual({ differences: [], waits: [], rows: 400 });
});

test("a list without a tree and a list without rows have no differences", async () => {
  const owner = { account: randomUUID(), list: countedLists.lead };
  expect((await runVerify(owner)).differences).toEqual([]);
  await maintain(owner, [], { deadline: Date.now() + 60_000, limits });
  expect((await runVerify(owner)).differences).toEqual([]);
});

test("a wrong leaf is reported with its range and cells, and so is the sum above it", async () => {
  const { owner } = await countedLeads(400);
  await tamper(owner, 1, addOne);
  const { differences, waits } = await runVerify(owner);
  expect(waits).toEqual([10_000, 20_000, 40_000]);
  expect(levels(differences)).toEqual([0, 1]);
  const [leaf, sum] = differences.sort((a, b) => a.level - b.level);
  expect(leaf).toMatchObject({ start: "", cells: [{ status: "new" }] });
  expect(leaf?.end).toMatch(/^lead_/);
  const [{ counted = 0, actual = 0 } = {}] = leaf?.cells ?? [];
  expect(counted).toBe(actual + 1);
  // The entry above was correct: it counts one row less than the changed node below it.
  expect(sum?.cells[0]?.actual).toBe(Number(sum?.cells[0]?.counted) + 1);
});

test("a sum that differs from the node below is reported on its own level", async () => {
  const { owner } = await countedLeads(400);
  await tamper(owner, 2, addOne);
  expect(levels((await runVerify(owner)).differences)).toEqual([1, 2]);
});

test("a missing node is reported", async () => {
  const { owner } = await countedLeads(400);
  const root = await readRoot(owner);
  const Key = countNodeKey("lead", owner.account, `node#${root?.generation}#1#`);
  await table.send(new DeleteCommand({ TableName: tableName, Key }));
  expect(levels((await runVerify(owner)).differences)).toEqual([1]);
});

test("a missing node without rows is reported", async () => {
  const { owner } = await countedLeads(400);
  let start = "";
  await tamper(owner, 2, ([first, second, ...others]) => {
    if (!first || !second) throw new Error("The node has too few entries.");
    // After all rows of the first node.
    const last = second.start.charCodeAt(second.start.length - 1);
    start = `${second.start.slice(0, -1)}${String.fromCharCode(last - 1)}~`;
    return [first, { start, cells: new Map() }, second, ...others];
  });
  const { differences } = await runVerify(owner);
  expect(differences).toEqual([{ level: 1, start, end: expect.stringMatching(/^lead_/), cells: [] }]);
});

test("a leaf out of order is reported", async () => {
  const { owner } = await countedLeads(400);
  await tamper(owner, 1, ([first, second, ...others]) => (first && second ? [second, first, ...others] : []));
  const { differences } = await runVerify(owner);
  expect(differences.length).toBeGreaterThan(0);
  expect(new Set(levels(differences))).toEqual(new Set([0]));
});

test("uncounted rows are reported, even with a status that has no cell", async () => {
  const { owner, ids } = await countedLeads(60);
  await putLead(owner.account, `${ids[30]}`, "booked");
  const { differences } = await runVerify(owner);
  expect(differences).toMatchObject([
    {
      level: 0,
      cells: [{ status: "new" }, { status: "(other)", counted: 0, actual: 1 }],
    },
  ]);
});

test.each([
  2, 3, 4,
])("a difference that is corrected before comparison %i is not reported", async (corrected) => {
  const { owner, ids } = await countedLeads(60);
  const key = `${ids[20]}`;
  await putLead(owner.account, key, "booked");
  const { differences } = await runVerify(owner, async (comparison) => {
    if (comparison === corrected) await maintain(owner, [key], { deadline: Date.now() + 60_000, limits });
  });
  expect(differences).toEqual([]);
});

test("a tree that grows while it is verified has no differences", async () => {
  const { owner, ids } = await countedLeads(60);
  const backdated = Array.from({ length: 60 }, (_, i) => `lead_${ulid(start + 5000 + i)}`);
  await putLead(owner.account, `${ids[5]}`, "booked");
  const { differences } = await runVerify(owner, async (comparison) => {
    if (comparison > 2) return;
    for (const id of backdated) await putLead(owner.account, id);
    await maintain(owner, [...backdated, `${ids[5]}`], { deadline: Date.now() + 60_000, limits });
  });
  expect(differences).toEqual([]);
  expect(await runVerify(owner)).toMatchObject({ differences: [], rows: 120 });
});

test("an import whose rows are counted late has no differences, a change that was lost has one", async () => {
  const { owner, ids } = await countedLeads(60);
  await putLead(owner.account, `${ids[40]}`, "booked");
  // Each time, the rows of the time before are still to be counted, and others arrive in the same leaves.
  let late: string[] = [];
  const importRows = async (comparison: number) => {
    const rows = Array.from({ length: 30 }, (_, i) => `lead_${ulid(start + i * 1000 + comparison)}`);
    for (const id of rows) await putLead(owner.account, id);
    await maintain(owner, late, { deadline: Date.now() + 60_000, limits });
    late = rows;
  };
  await importRows(1);
  const { differences } = await runVerify(owner, importRows);
  expect(differences).toHaveLength(1);
  expect(differences[0]?.start && differences[0].start <= `${ids[40]}`).toBe(true);
  expect(differences[0]?.end && differences[0].end > `${ids[40]}`).toBe(true);
});

test("a rebuild corrects the differences", async () => {
  const { owner } = await countedLeads(400);
  await tamper(owner, 1, addOne);
  await rebuild(owner, { limits, wait: async () => {} });
  expect(await runVerify(owner)).toMatchObject({ differences: [], rows: 400 });
});

test("conversations are verified by status", async () => {
  const owner = { account: randomUUID(), list: countedLists.conversation };
  const id = `conv_${ulid(start)}`;
  const Item = { ...conversationKey(owner.account, id), id, status: "active", channel: "sms" };
  await table.send(new PutCommand({ TableName: tableName, Item }));
  await maintain(owner, [id], { deadline: Date.now() + 60_000, limits: { ...limits, tail: 0 } });
  await table.send(new DeleteCommand({ TableName: tableName, Key: conversationKey(owner.account, id) }));
  expect(await verify(owner, { wait: async () => {} })).toMatchObject([
    { level: 0, cells: [{ status: "active", counted: 1, actual: 0 }] },
  ]);
});
