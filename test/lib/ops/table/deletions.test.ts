import { expect, test, vi } from "vitest";
import { deleteItems } from "../../../../lib/ops/table/write-items.ts";
import { Pace } from "../../../../shared/dynamodb/pace.ts";
import { smallPages } from "../../../support/conditions.ts";
import { useMemoryTables } from "../../../support/memory-tables.ts";
import { skipWaits } from "../../../support/skipped-waits.ts";

const memory = useMemoryTables();

test("items are deleted at a pace at which a write unit is worth three read units, and what a batch leaves over is deleted again", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: 0 });
  skipWaits((milliseconds) => vi.setSystemTime(Date.now() + milliseconds));
  const keys = Array.from({ length: 60 }, (_, n) => ({ pk: "LEAD#acme", sk: `lead_${n}`, name: "Ada" }));
  for (const key of keys) memory.put(key);
  using _ = smallPages(10);
  await deleteItems(keys, new Pace(100));
  expect([...memory.items()]).toEqual([]);
  // 60 write units are 180 read units, and the throttle halves the pace.
  expect(Date.now()).toBeGreaterThan(1500);
});
