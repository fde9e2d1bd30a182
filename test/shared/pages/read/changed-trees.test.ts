import { afterEach, describe, expect, test, vi } from "vitest";
import { ConversationHistory } from "../../../support/conversation-history.ts";
import { smallLimits } from "../../../support/small-limits.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const limits = {
  ...smallLimits,
  ...{ rootBytes: 450, nodeBytes: 250, keptBytes: 200, rowNodeBytes: 250, keptRowBytes: 200 },
};

/** Every fourth conversation is on a rare channel. */
const fields = (n: number) => ({
  status: n % 3 === 0 ? "closed" : "active",
  channel: n % 4 === 1 ? "rare" : "web",
});

/** An account with conversations in trees of several nodes, and with a tail that a maintainer can count. */
async function countedHistory(): Promise<ConversationHistory> {
  const history = new ConversationHistory();
  history.addMany(64, fields);
  history.advance(60_000);
  await history.deliver(limits);
  history.addMany(24, fields);
  history.advance(60_000);
  return history;
}

const filters = [{ channel: "rare" }, { channel: "web", status: "active" }] as const;

const requests = [1, 4].map((page) => ({ page, limit: 5 }));

/** Lists, and changes something before a call. @returns the page, and how many calls came up to the change */
async function listDuring(
  history: ConversationHistory,
  list: () => ReturnType<ConversationHistory["list"]>,
  { nth, change }: { readonly nth: number; readonly change: (history: ConversationHistory) => void },
) {
  let calls = 0;
  history.table.before = async () => {
    if (++calls !== nth) return;
    history.table.before = () => {};
    change(history);
    await history.deliver(limits);
  };
  const found = await list();
  history.table.before = () => {};
  return { found, calls };
}

test.each(filters)("a list during which its tail is counted is exact: %o", async (filter) => {
  const history = await countedHistory();
  const restore = history.save();
  let most = 0;
  for (const request of requests) {
    for (let nth = 1, calls = 0; calls === nth - 1; nth++) {
      restore();
      const list = () => history.list(filter, request);
      const during = await listDuring(history, list, { nth, change: () => {} });
      calls = during.calls;
      most = Math.max(most, calls);
      expect(during.found, `page ${request.page}, call ${nth}`).toEqual(history.expected(filter, request));
    }
  }
  expect(most).toBeGreaterThanOrEqual(3);
});

const atEvery = (step: number, change: (history: ConversationHistory, id: string) => void) =>
  function changeSome(history: ConversationHistory): void {
    for (const [n, id] of [...history.conversations.keys()].entries())
      if (n % step === 0) change(history, id);
  };

describe.each([
  ["leave", atEvery(5, (history, id) => history.change(id, { status: "paused", channel: "other" }))],
  ["join", atEvery(7, (history, id) => history.change(id, { status: "closed", channel: "rare" }))],
  ["are deleted", atEvery(4, (history, id) => history.delete(id))],
] as const)("a list during which conversations %s", (_, change) => {
  test.each(
    filters,
  )("has a total between those before and after, and rows of one of them: %o", async (filter) => {
    const history = await countedHistory();
    const restore = history.save();
    for (const request of requests) {
      for (let nth = 1, calls = 0; calls === nth - 1; nth++) {
        restore();
        const all = { page: 1, limit: 1000 };
        const before = history.expected(filter, all);
        const list = () => history.list(filter, request);
        const during = await listDuring(history, list, { nth, change });
        const { found } = during;
        calls = during.calls;
        const after = history.expected(filter, all);
        const totals = [before.pagination.total, after.pagination.total];
        expect(found.pagination.total).toBeGreaterThanOrEqual(Math.min(...totals));
        expect(found.pagination.total).toBeLessThanOrEqual(Math.max(...totals));
        const ids = found.data.map(({ id }) => id);
        expect(ids).toEqual([...new Set(ids)].sort().reverse());
        expect([...before.data, ...after.data]).toEqual(expect.arrayContaining(found.data));
        // The next list is exact.
        expect(await list()).toEqual(history.expected(filter, request));
      }
    }
  });
});
