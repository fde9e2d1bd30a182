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

/** The clock of the limits. Under load each call advances it by a few milliseconds at most, so that a slow machine exceeds them, too. */
const clock = {
  underLoad: true,
  time: 0,
  readAt: Date.now(),
  now: () => {
    const passed = Date.now() - clock.readAt;
    clock.readAt += passed;
    clock.time += clock.underLoad ? Math.min(passed, 4) : passed;
    return clock.time;
  },
};

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
      429,
      "too_many_at_once",
      expect.stringMatching(/^\d+$/),
    ]);
    expect(Date.now()).toBeLessThan(end);
    await setTimeout(1000);
  }
}

test("above the limits of a partition key, writes exist once and lists are exact or busy; lists recover", {
  timeout: 300_000,
}, async () => {
  const limited = new LimitedTable(new PartitionLimits(rates, clock.now), tableName);
  table.handle = limited.handle;
  const ledger = new Ledger();
  // Otherwise nothing is tested.
  const isEnough = () =>
    ledger.requests >= 500 &&
    limited.throttled > 100 &&
    ledger.listings.length > 50 &&
    ledger.writes.filter((write) => write.acknowledged).length > 100;
  await drive({ call, ledger, accounts, isEnough, clients: 32, seed: 1 });
  clock.underLoad = false;
  for (const account of accounts) await listUntilAnswered(account);
  await maintainer.drained();
  for (const account of accounts) expect(await listUntilAnswered(account)).toBe(0);
  table.handle = pass;
  const stored = new Map(
    await Promise.all(accounts.map(async (account) => [account, await api.stored(account)] as const)),
  );
  const { lost, doubled } = checkWrites(ledger, stored);
  const violations = [
    ...ledger.violations,
    ...maintainer.violations,
    ...checkStatuses(ledger, stored),
    ...checkListings(ledger, stored),
  ];
  for (const [account, rows] of stored)
    violations.push(...checkConversations(account, rows), ...(await checkCounts(call, account, rows)));
  expect({ lost, doubled, violations }).toEqual({ lost: [], doubled: [], violations: [] });
});
