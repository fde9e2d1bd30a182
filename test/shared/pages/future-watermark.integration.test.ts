import { randomUUID } from "node:crypto";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { ulid } from "ulid";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { rebuild } from "../../../lib/ops/counts/rebuild.ts";
import { leadItem, listLeads } from "../../../shared/domain/leads.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { maintain } from "../../../shared/pages/maintain/maintain.ts";
import { countedLists, keyAt } from "../../../shared/pages/tree/counted-list.ts";
import { readRoot } from "../../../shared/pages/tree/tree-store.ts";
import type { Lead } from "../../../shared/schemas/lead-schemas.ts";
import { smallLimits as limits } from "../../support/small-limits.ts";

const hour = 3_600_000;
const noon = Date.UTC(2026, 0, 1, 12);
const owner = { account: "", list: countedLists.lead };

beforeEach(() => {
  owner.account = randomUUID();
  vi.useFakeTimers({ toFake: ["Date"], now: noon });
});
afterEach(() => void vi.useRealTimers());

async function createLead(at: number): Promise<string> {
  const id = `lead_${ulid(at)}`;
  const lead: Lead = { id, name: "x", score: 0, status: "new", tags: [], createdAt: "" };
  await table.send(new PutCommand({ TableName: tableName, Item: leadItem(owner.account, lead) }));
  return id;
}

async function createLeads(count: number, from: number) {
  return Promise.all(Array.from({ length: count }, (_, i) => createLead(from + i)));
}

const maintainAll = (keys: readonly string[]) =>
  maintain(owner, keys, { deadline: Number.POSITIVE_INFINITY, limits, wait: async () => {} });

const total = async () => (await listLeads(owner.account, {}, { page: 1, limit: 1 })).pagination.total;

/** Leads that a clock one hour ahead counted. @returns the keys of leads created since, whose changes are on their way */
async function countWithFastClock(): Promise<string[]> {
  const keys = await createLeads(20, noon - hour);
  vi.setSystemTime(noon + hour);
  await maintainAll(keys);
  vi.setSystemTime(noon + 60_000);
  expect((await readRoot(owner))?.watermark).toBe(keyAt(owner.list, noon + hour - limits.allowedLateness));
  return createLeads(10, noon + 1000);
}

test("the next maintainer moves a watermark back that lies in the future", async () => {
  const keys = await countWithFastClock();
  // A change of another lead: those of the new leads have not been delivered.
  await maintainAll([`lead_${ulid(noon - hour)}`]);
  expect((await readRoot(owner))?.watermark).toBe(keyAt(owner.list, noon + 60_000 - limits.allowedLateness));
  expect(await total()).toBe(30);
  await maintainAll(keys);
  expect(await total()).toBe(30);
  await createLead(Date.now());
  expect(await total()).toBe(31);
});

test("a watermark that an honest clock can have set stays", async () => {
  await createLeads(20, noon - hour);
  vi.setSystemTime(noon + limits.skew);
  await maintainAll([`lead_${ulid(noon - hour)}`]);
  const before = await readRoot(owner);
  vi.setSystemTime(noon);
  await maintainAll([`lead_${ulid(noon - hour)}`]);
  expect((await readRoot(owner))?.watermark).toBe(before?.watermark);
});

test("a rebuild does not wait for a watermark that lies in the future", async () => {
  await countWithFastClock();
  const before = await readRoot(owner);
  let waited = 0;
  const wait = async (milliseconds: number) => {
    waited += milliseconds;
    vi.setSystemTime(Date.now() + milliseconds);
  };
  await rebuild(owner, { limits, wait });
  expect(waited).toBeLessThan(70_000);
  expect((await readRoot(owner))?.generation).toBe(Number(before?.generation) + 1);
  expect(await total()).toBe(30);
});
