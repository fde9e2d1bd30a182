import { randomUUID } from "node:crypto";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { ulid } from "ulid";
import { afterEach, expect, test, vi } from "vitest";
import { Pace } from "../../../../lib/ops/common/pace.ts";
import { rebuild } from "../../../../lib/ops/counts/rebuild.ts";
import { verify } from "../../../../lib/ops/counts/verify.ts";
import { leadKey } from "../../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { maintain } from "../../../../shared/pages/maintain/maintain.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { readRoot } from "../../../../shared/pages/tree/tree-store.ts";
import { smallLimits } from "../../../support/small-limits.ts";

afterEach(() => void vi.restoreAllMocks());

const limits = smallLimits;
const wait = async () => {};
const start = Date.UTC(2026, 0, 1);

async function putLead(account: string, id: string, status = "new") {
  const Item = { ...leadKey(account, id), id, status, source: "web" };
  await table.send(new PutCommand({ TableName: tableName, Item }));
}

/** Creates an account with leads. */
async function createLeads(count: number, status: (i: number) => string = () => "new") {
  const owner = { account: randomUUID(), list: countedLists.lead };
  const ids = Array.from({ length: count }, (_, i) => `lead_${ulid(start + i * 1000)}`);
  for (const [i, id] of ids.entries()) await putLead(owner.account, id, status(i));
  return { owner, ids };
}

type Owner = Awaited<ReturnType<typeof createLeads>>["owner"];

const count = (owner: Owner, keys: readonly string[]) =>
  maintain(owner, keys, { deadline: Date.now() + 60_000, limits, wait });

/** Rebuilds. @param lives how many parts are counted before it is killed @returns the rows that were read */
async function rebuildRows(owner: Owner, lives = Number.POSITIVE_INFINITY): Promise<number[]> {
  const rows: number[] = [];
  const onRows = (read: number) => {
    rows.push(read);
    if (rows.length > lives) throw new Error("killed");
  };
  await rebuild(owner, { limits, wait, onRows }).catch((error: Error) => {
    if (error.message !== "killed") throw error;
  });
  return rows;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

test("a rebuild that was killed is continued, with all changes that were made meanwhile", async () => {
  const { owner, ids } = await createLeads(60);
  await count(owner, ids);
  expect(sum(await rebuildRows(owner, 2))).toBeLessThan(60);
  const { generation = 0, rebuilding } = (await readRoot(owner)) ?? {};
  expect(rebuilding).toBe(generation + 1);
  const dead = await readRoot(owner, "next");
  expect(dead?.progressAt).toBeGreaterThan(Date.now() - 60_000);

  // One of a lead that the rebuild has counted, one of a lead that it has not.
  for (const id of [`${ids[3]}`, `${ids[50]}`]) {
    await putLead(owner.account, id, "booked");
    await count(owner, [id]);
  }
  expect((await readRoot(owner, "next"))?.progressAt).toBe(dead?.progressAt);
  const [joined = 0, ...rest] = await rebuildRows(owner);
  expect(joined).toBeGreaterThanOrEqual(24);
  expect(sum([joined, ...rest])).toBe(60);
  expect(await readRoot(owner)).toMatchObject({
    generation: rebuilding,
    rebuilding: undefined,
    progressAt: undefined,
  });
  expect(await readRoot(owner, "next")).toBeUndefined();
  expect(await verify(owner, { limits, wait })).toEqual([]);
});

test("the maintainer warns of a rebuild that has made no progress for ten minutes", async () => {
  const { owner, ids } = await createLeads(60);
  await count(owner, ids);
  await rebuildRows(owner, 2);
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  await count(owner, ids.slice(0, 1));
  expect(warn).not.toHaveBeenCalled();
  const now = Date.now();
  vi.spyOn(Date, "now").mockReturnValue(now + 601_000);
  await maintain(owner, ids.slice(0, 1), { deadline: Number.POSITIVE_INFINITY, limits, wait });
  expect(warn.mock.calls).toEqual([[{ event: "rebuild stalled", account: owner.account, list: "lead" }]]);
});

test("the rows are read twice only without a tree or with a status that was refused", async () => {
  const { owner, ids } = await createLeads(40, (i) => `status-${i % 3}`);
  expect(sum(await rebuildRows(owner))).toBe(80);
  expect(sum(await rebuildRows(owner))).toBe(40);
  expect((await readRoot(owner))?.statuses.names).toHaveLength(3);
  for (const [i, id] of ids.entries()) await putLead(owner.account, id, `status-${i % 20}`);
  await count(owner, ids);
  expect(sum(await rebuildRows(owner))).toBe(80);
});

test("a list that changes while all rows are read for their statuses is read for them once", async () => {
  const { owner, ids } = await createLeads(40);
  let rows = 0;
  const onRows = (read: number) => {
    rows += read;
  };
  const changing = { ...limits, rangeRows: 12 };
  const pace = new Pace(undefined, wait);
  vi.spyOn(pace, "spend").mockImplementation(async () => {
    if (rows < 40) await count(owner, ids.slice(0, 1));
  });
  await rebuild(owner, { limits: changing, wait, onRows, pace });
  expect(rows).toBe(80);
});

test("a status without rows is forgotten, and the most frequent come first", async () => {
  const { owner, ids } = await createLeads(40, (i) => (i < 10 ? "rare" : "new"));
  await count(owner, ids);
  expect((await readRoot(owner))?.statuses.names).toEqual(["rare", "new"]);
  await rebuildRows(owner);
  expect((await readRoot(owner))?.statuses.names).toEqual(["new", "rare"]);
  for (const id of ids.slice(0, 10)) await putLead(owner.account, id);
  await count(owner, ids.slice(0, 10));
  await rebuildRows(owner);
  expect((await readRoot(owner))?.statuses.names).toEqual(["new"]);
});
