import { beforeEach, describe, expect, test, vi } from "vitest";
import { maintainLists } from "../../../../shared/pages/maintain/maintain-lists.ts";
import { expectLists } from "../../../support/cases/expect-counted.ts";
import { countedLeads, type LeadHistory } from "../../../support/cases/history.ts";
import { seeded } from "../../../support/cases/random.ts";
import { throttled } from "../../../support/tables/watched-table.ts";

beforeEach(() => void vi.spyOn(Math, "random").mockImplementation(seeded(1)));

const keysOf = (rows: readonly { readonly key: string }[]) => rows.map(({ key }) => key);

/** Runs a maintainer for the changes that were not delivered. @returns the keys that it reports, and why */
async function maintain(history: LeadHistory, time = 60_000, rows = history.changes) {
  const wait = async (milliseconds: number) => history.advance(Math.ceil(milliseconds));
  const changes = [{ owner: history.owner, rows }];
  const [unfinished] = await maintainLists(changes, { deadline: history.now + time, wait });
  return { reported: keysOf(unfinished?.rest ?? []), error: unfinished?.error };
}

/** An account with changes of counted leads in many leaves and in nodes of a source, and with a tail. */
async function historyWithChanges(): Promise<LeadHistory> {
  const history = await countedLeads(200, { source: "web" });
  for (const id of [...history.rows.keys()].filter((_, i) => i % 40 === 0)) history.setStatus(id, "booked");
  history.delete([...history.rows.keys()].at(7) ?? "");
  history.addMany(30, { age: 10_000, source: "web" });
  return history;
}

const filters = [
  {},
  { status: "booked" },
  { status: "new" },
  { source: "web" },
  { source: "web", status: "booked" },
] as const;
const expectExact = (history: LeadHistory) => expectLists(history, filters);

describe("a table that throttles", () => {
  test("any single call only delays the maintainer, which repeats no other call", async () => {
    const history = await historyWithChanges();
    const restore = history.save();
    const { calls } = await history.table.watch(() => maintain(history));
    expect(calls.length).toBeGreaterThan(10);
    const ofSource = /COUNT#[^#"]+#LEAD#[^#"]/;
    const inLabelTree = calls.filter(({ input }) => ofSource.test(JSON.stringify(input)));
    expect(inLabelTree.length).toBeGreaterThan(3);
    for (let nth = 1; nth <= calls.length; nth++) {
      restore();
      history.table.before = (_, call) => {
        if (call === nth) throw throttled();
      };
      const again = await history.table.watch(() => maintain(history));
      expect(again.result).toEqual({ reported: [], error: undefined });
      expect(again.calls).toHaveLength(calls.length + 1);
      history.table.before = () => {};
      await expectExact(history);
    }
  });

  test("a batch of many changed rows repeatedly lets each run count at least 250 more of them, in order", async () => {
    const history = await countedLeads(1200, { source: "web" });
    for (const id of [...history.rows.keys()]) history.setStatus(id, "booked");
    const all = keysOf(history.changes);
    let runs = 0;
    for (let { changes } = history; changes.length > 0; runs++) {
      let calls = 0;
      // So many calls are enough for 250 rows, and not for all.
      history.table.before = () => {
        if (++calls > 60) throw throttled();
      };
      const { reported } = await maintain(history, 60_000, changes);
      expect(reported).toEqual(all.slice(all.length - reported.length));
      expect(changes.length - reported.length).toBeGreaterThanOrEqual(Math.min(250, changes.length));
      changes = changes.slice(changes.length - reported.length);
    }
    expect(runs).toBeGreaterThan(1);
    history.table.before = () => {};
    await expectExact(history);
  });
});
