import { afterEach, expect, test, vi } from "vitest";
import { readRoot } from "../../../../shared/pages/tree/tree-store.ts";
import { expectCounted, treeOf } from "../../../support/expect-counted.ts";
import { LeadHistory } from "../../../support/history.ts";
import { smallLimits } from "../../../support/small-limits.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test("rare sources are looked at seldom, and have trees when the rows of all pay", async () => {
  const history = new LeadHistory();
  const limits = { ...smallLimits, nodesWritten: 95, sublistRows: 30, fedRows: 1000 };
  const rare = (i: number) => `source ${i % 40}`;
  let looks = 0;
  const rounds = 50;
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < 18; i++) history.add({ age: 10_000, source: rare(18 * round + i) });
    const { calls } = await history.table.watch(() => history.deliver(limits));
    looks += calls.filter(({ input }) => input.Limit === limits.fedRows).length;
    history.advance(60_000);
    expect(await readRoot(treeOf(history, rare(round)))).toBeUndefined();
  }
  // At 36 rows, 72, 144, 288 and 576.
  expect(looks).toBe(5);
  history.addMany(120, { age: 10_000, source: rare(1) });
  await history.deliver(limits);
  await expectCounted(
    history,
    Array.from({ length: 40 }, (_, i) => rare(i)),
  );
});
