import { afterEach, describe, expect, test, vi } from "vitest";
import { filteredRange } from "../../../../shared/pages/counted-range.ts";
import type { Limits } from "../../../../shared/pages/tree/tree-limits.ts";
import { readRoot } from "../../../../shared/pages/tree/tree-store.ts";
import { LeadHistory } from "../../../support/lead-history.ts";
import { smallLimits } from "../../../support/small-limits.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const sources = Array.from({ length: 14 }, (_, i) => `source-${i}`);

/** Limits of which any entry exceeds `keptBytes`, `nodeBytes`, or both and the root's. */
const limits: [string, Partial<Limits>][] = [
  ["an entry is larger than what a split keeps", { keptBytes: 10 }],
  ["an entry is larger than a node", { keptBytes: 10, nodeBytes: 10 }],
  ["two entries are larger than a root", { keptBytes: 10, nodeBytes: 10, rootBytes: 10 }],
  ["nothing fits", { keptBytes: 0, nodeBytes: 0, rootBytes: 0 }],
];

describe.each(limits)("a tree in which %s", (_, sizes) => {
  test("is built and changed, and is exact", async () => {
    const history = new LeadHistory();
    const tooSmall = { ...smallLimits, commitNodes: 60, transactionNodes: 90, ...sizes };
    for (let round = 0; round < 8; round++) {
      for (const [i, source] of [...sources, ...sources].entries()) {
        history.addMany(1, { source, age: 20_000 - i * 50, status: i % 3 === 0 ? "booked" : "new" });
      }
      await history.deliver(tooSmall);
      history.advance(60_000);
    }
    for (const id of [...history.leads.keys()].filter((_, i) => i % 5 === 0))
      history.setStatus(id, "qualified");
    await history.deliver(tooSmall);

    const { level = 0, entries = [] } = (await readRoot(history.owner)) ?? {};
    expect(level).toBeGreaterThanOrEqual(1);
    expect(entries.length).toBeGreaterThanOrEqual(1);
    const source = "source-3";
    const { tree } = filteredRange(history.account, history.owner.list, { sourceOrChannel: source });
    expect((await readRoot(tree))?.level).toBeGreaterThanOrEqual(1);
    for (const filter of [{}, { source }, { source, status: "booked" }, { status: "qualified" }] as const) {
      for (const page of [1, 2, 5]) {
        const request = { page, limit: 7 };
        expect(await history.list(filter, request)).toEqual(history.expected(filter, request));
      }
    }
  });
});
