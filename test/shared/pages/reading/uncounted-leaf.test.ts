import { PutCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { readRoot } from "../../../../shared/pages/tree/tree-store.ts";
import { LeadHistory } from "../../../support/lead-history.ts";
import { seeded } from "../../../support/random.ts";
import { smallLimits } from "../../../support/small-limits.ts";
import { throttled } from "../../../support/watched-table.ts";

beforeEach(() => void vi.spyOn(Math, "random").mockImplementation(seeded(1)));
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test("a list is exact while a leaf with many back-dated rows is not counted yet, and afterwards", async () => {
  const history = new LeadHistory();
  history.addMany(30, { age: 60_000 });
  await history.deliver(smallLimits);
  history.advance(100_000);
  // More than a maintainer with these limits reads at once, in the same leaf.
  for (let i = 0; i < 2 * smallLimits.rangeRows; i++) history.add({ age: 160_010 });
  const { changes } = history;
  let commits = 0;
  history.table.before = (command) => {
    const isCommit = command instanceof PutCommand || command instanceof TransactWriteCommand;
    if (isCommit && ++commits > 1) throw throttled();
  };
  await expect(history.deliver(smallLimits)).rejects.toThrow("The maintainer has not finished.");
  history.table.before = () => {};
  expect((await readRoot(history.owner))?.pending).toHaveLength(1);

  const isExact = async () => {
    for (const filter of [{}, { status: "new" }, { status: "booked" }] as const)
      for (const page of [1, 2, 4]) {
        const request = { page, limit: 14 };
        expect(await history.list(filter, request)).toEqual(history.expected(filter, request));
      }
  };
  await isExact();
  history.changes = changes;
  await history.deliver(smallLimits);
  expect((await readRoot(history.owner))?.pending).toEqual([]);
  await isExact();
});
