import { beforeEach, describe, expect, test } from "vitest";
import { accountPartition } from "../../../../shared/dynamodb/keys.ts";
import { readList } from "../../../../shared/pages/read/read-list.ts";
import { isWithin, type Window } from "../../../../shared/pages/read/window.ts";
import { countedLists, keyAt } from "../../../../shared/pages/tree/counted-list.ts";
import { readRecord } from "../../../../shared/schemas/record.ts";
import { validateConversation } from "../../../../shared/schemas/record-validators.ts";
import { ConversationHistory, leadId } from "../../../support/cases/history.ts";
import { smallLimits } from "../../../support/requests/small-limits.ts";

const list = countedLists.conversation;

const fields = (n: number) => ({
  status: n % 3 === 0 ? "closed" : "active",
  channel: n % 4 === 1 ? "rare" : "web",
});

interface Filter {
  readonly leadId?: string;
  readonly status?: string;
  readonly channel?: string;
}

const filters: readonly Filter[] = [
  {},
  { status: "closed" },
  { channel: "web" },
  { channel: "rare", status: "active" },
  { channel: "nobodys" },
  { leadId },
  { leadId, status: "closed" },
  { leadId, channel: "rare", status: "active" },
  { leadId, channel: "nobodys" },
];

/** How many calls a page may make: an unbounded one makes up to eight, and two ranks are two paths more. */
const mostCalls = 12;

let history: ConversationHistory;

function read({ leadId, status, channel: label }: Filter, window: Window, page = 1, limit = 5) {
  const { account } = history;
  const parent = leadId === undefined ? undefined : accountPartition("conversation", account, leadId);
  const asked = { page, limit, account, list, ids: undefined, parent, filter: { status, label }, window };
  return readList(asked, (item) => readRecord(validateConversation, item));
}

/** The sort keys of some rows, of times, and those before and after all rows. */
function someKeys(every: number): string[] {
  const ids = [...history.rows.keys()];
  const times = [0, 1, 2].map((n) => keyAt(list, Date.now() - n * 30_000));
  return ["", ...ids.filter((_, n) => n % every === 0), ...ids.slice(-3), ...times, "~"];
}

describe.each([
  ["without trees", undefined],
  ["with trees and a tail", smallLimits],
])("a window %s", (_, limits) => {
  beforeEach(async () => {
    history = new ConversationHistory();
    history.addMany(70, {}, fields);
    history.advance(60_000);
    if (limits) await history.deliver(limits);
    history.addMany(20, {}, fields);
  });

  const expected = (filter: Filter) => history.expected(filter, { page: 1, limit: 1000 }).data;

  test.each(filters)("has exact pages, whatever its ends: %o", async (filter) => {
    const all = expected(filter);
    for (const from of someKeys(31)) {
      for (const before of someKeys(23)) {
        if (before <= from) continue;
        const rows = all.filter(({ id }) => isWithin({ from, before })(id));
        const last = Math.ceil(rows.length / 5);
        for (const page of new Set([1, 2, Math.ceil(last / 2), last, last + 1])) {
          if (page < 1) continue;
          const { result, calls } = await history.table.watch(() => read(filter, { from, before }, page));
          const named = `page ${page} from ${from} to ${before}`;
          expect(result, named).toEqual({
            data: rows.slice((page - 1) * 5, page * 5),
            pagination: { page, limit: 5, total: rows.length },
          });
          expect(calls.length, named).toBeLessThanOrEqual(mostCalls);
        }
      }
    }
  });
});
