import { setTimeout } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { PartitionLimits } from "../support/dynamodb-limits/partition-limits.ts";
import { pass } from "./exchange.ts";
import { startFaultyApi } from "./faulty-api.ts";
import { Ledger } from "./ledger.ts";
import { LimitedTable } from "./limited-table.ts";

const api = await startFaultyApi();
const { table, tableName } = api;
// Imported here because the client reads its endpoint from the environment.
const { call } = await import("../support/call.ts");
const { checkConversations } = await import("./conversation-check.ts");
const { checkCounts } = await import("./count-check.ts");
const { checkListings } = await import("./listing-check.ts");
const { startMaintainer } = await import("./maintainer.ts");
const { checkStatuses } = await import("./status-check.ts");
const { drive } = await import("./traffic.ts");
const { checkWrites } = await import("./write-check.ts");
const maintainer = await startMaintainer(api);
afterAll(async () => {
  await maintainer.stop();
  table.close();
});

/** A fiftieth of what AWS serves, so that few clients exceed it. */
const rates = { read: 60, write: 20, burstSeconds: 0 };

const accounts = ["limited-0", "limited-1"];

/** How long after the load a list may still be refused, in milliseconds. */
const recovery = 30_000;

/** Requests the first page of a list every second until it is answered. @returns how often it was refused */
async function listUntilAnswered(account: string): Promise<number> {
  const end = Date.now() + recovery;
  for (let refused = 0; ; refused++) {
    const { status, headers, problem } = await call("list-leads", { account });
    if (status === 200) return refused;
    expect([status, problem.code, headers["retry-after"]]).toEqual([
      503,
      "busy",
      expect.stringMatching(/^\d+$/),
    ]);
    expect(Date.now()).toBeLessThan(end);
    await setTimeout(1000);
  }
}

test("above the limits of a partition key, writes exist once and lists are exact or busy; lists recover", {
  timeout: 180_000,
}, async () => {
  const limited = new LimitedTable(new PartitionLimits(rates), tableName);
  table.handle = limited.handle;
  const ledger = new Ledger();
  // A slow machine needs more requests to exceed the limits.
  const isEnough = () => ledger.requests >= (limited.throttled > 100 ? 500 : 2000);
  await drive({ call, ledger, accounts, isEnough, clients: 32, seed: 1 });
  const throttledUnderLoad = limited.throttled;
  for (const account of accounts) await listUntilAnswered(account);
  await maintainer.drained();
  for (const account of accounts) expect(await listUntilAnswered(account)).toBe(0);
  table.handle = pass;
  const stored = new Map(
    await Promise.all(accounts.map(async (account) => [account, await api.stored(account)] as const)),
  );
  const { lost, doubled, acknowledged } = checkWrites(ledger, stored);
  const violations = [
    ...ledger.violations,
    ...maintainer.violations,
    ...checkStatuses(ledger, stored),
    ...checkListings(ledger, stored),
  ];
  for (const [account, rows] of stored)
    violations.push(...checkConversations(account, rows), ...(await checkCounts(call, account, rows)));
  expect({ lost, doubled, violations }).toEqual({ lost: [], doubled: [], violations: [] });
  // Otherwise nothing was tested.
  expect(throttledUnderLoad).toBeGreaterThan(100);
  expect(acknowledged).toBeGreaterThan(100);
  expect(ledger.listings.length).toBeGreaterThan(50);
});
