import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { filteredRange, leadRange } from "../../../../shared/pages/counted-range.ts";
import { rankInGroup, rankOf } from "../../../../shared/pages/rank-of.ts";
import { countedLists, keyAt } from "../../../../shared/pages/tree/counted-list.ts";
import { ConversationHistory } from "../../../support/conversation-history.ts";
import { smallLimits } from "../../../support/small-limits.ts";

const leadId = "lead_1";
const list = countedLists.conversation;

const fields = (n: number) => ({
  status: n % 3 === 0 ? "closed" : "active",
  channel: n % 4 === 1 ? "rare" : "web",
});

const filters = [
  {},
  { status: "closed" },
  { channel: "web" },
  { channel: "rare", status: "active" },
  { channel: "nobodys" },
  { leadId },
  { leadId, status: "closed" },
  { leadId, channel: "rare", status: "active" },
  { leadId, channel: "nobodys" },
] as const;

let history: ConversationHistory;

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

function rank(filter: { leadId?: string; status?: string; channel?: string }, sortKey: string) {
  const { account } = history;
  const { status, channel: sourceOrChannel } = filter;
  if (filter.leadId === undefined)
    return rankOf(filteredRange(account, list, { status, sourceOrChannel }), sortKey);
  const lead = leadRange(account, list, filter.leadId);
  if (status === undefined && sourceOrChannel === undefined) return rankOf(lead, sortKey);
  return rankInGroup({ owner: lead.tree, filter: { status, sourceOrChannel } }, sortKey);
}

describe.each([
  ["without trees", undefined],
  ["with trees and a tail", smallLimits],
])("the rank of a sort key %s", (_, limits) => {
  beforeEach(async () => {
    history = new ConversationHistory();
    history.addMany(70, fields);
    history.advance(60_000);
    if (limits) await history.deliver(limits);
    history.addMany(20, fields);
  });

  test.each(filters)("is the number of earlier rows: %o", async (filter) => {
    const all = history.expected(filter, { page: 1, limit: 1000 }).data.map(({ id }) => id);
    const ids = [...history.conversations.keys()];
    const times = [0, 1, 2].map((n) => keyAt(list, Date.now() - n * 40_000));
    for (const sortKey of ["", ...ids.filter((_, n) => n % 7 === 0), ...ids.slice(-3), ...times, "~"])
      expect(await rank(filter, sortKey), sortKey).toBe(all.filter((id) => id < sortKey).length);
  });
});
