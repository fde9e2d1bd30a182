import { expect, test, vi } from "vitest";
import { asChange, deleteItems } from "../../../../lib/ops/table/write-items.ts";
import { Pace } from "../../../../shared/dynamodb/pace.ts";
import { newId } from "../../../../shared/ids.ts";
import { skipWaits } from "../../../support/cases/skipped-waits.ts";
import { aroundCalls } from "../../../support/tables/conditions.ts";
import { useTablesOfCommands } from "../../../support/tables/memory-tables.ts";
import { storedLead } from "../../../support/tables/stored.ts";

const memory = useTablesOfCommands();

test("items are deleted at a pace that counts a write unit as three read units, and throttled deletions are retried", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: 0 });
  skipWaits((milliseconds) => vi.setSystemTime(Date.now() + milliseconds));
  const keys = Array.from({ length: 60 }, (_, n) => ({ pk: "LEAD#acme", sk: `lead_${n}` }));
  for (const key of keys) memory.put(key);
  let calls = 0;
  using _ = aroundCalls((command, send) => {
    calls += 1;
    if (calls === 2) throw Object.assign(new Error("Not now."), { name: "ThrottlingException" });
    return send(command);
  });
  await deleteItems(keys, new Pace(100));
  expect([...memory.items()]).toEqual([]);
  expect(calls).toBe(61);
  // 60 write units are 180 read units, and the throttle halves the pace.
  expect(Date.now()).toBeGreaterThan(1500);
});

test("a change is later than the one before it, even if the machine of that one had another clock", () => {
  const changeId = newId("change", Date.now() + 60_000);
  const before = { ...storedLead("lead_1"), changeId };
  expect(String(asChange(before, { status: "booked" }).changeId) > changeId).toBe(true);
});
