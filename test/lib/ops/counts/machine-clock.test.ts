import { expect, test, vi } from "vitest";
import { Pace } from "../../../../shared/dynamodb/pace.ts";
import { machineTolerance, pacedMaintenance, repair } from "../../../../shared/pages/audit/repair.ts";
import { keyAt } from "../../../../shared/pages/tree/counted-list.ts";
import { limits } from "../../../../shared/pages/tree/tree-limits.ts";
import { expectCounted } from "../../../support/cases/expect-counted.ts";
import { LeadHistory } from "../../../support/cases/history.ts";
import { skipWaits } from "../../../support/cases/skipped-waits.ts";

test("a command whose clock is a second ahead counts no row that is too young", async () => {
  const history = new LeadHistory();
  history.addMany(100, { age: 60_000 });
  await history.deliver(limits, limits.skew);
  for (let age = 3400; age >= 0; age -= 100) history.add({ age });
  using _waits = skipWaits();
  vi.setSystemTime(history.now + machineTolerance);
  await repair(history.owner, [], pacedMaintenance(new Pace()));
  const { watermark } = await expectCounted(history);
  expect(watermark > keyAt(history.owner.list, history.now - 3400)).toBe(true);
  expect(watermark <= keyAt(history.owner.list, history.now - limits.allowedLateness)).toBe(true);
});
