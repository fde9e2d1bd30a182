import { beforeEach, describe, expect, test } from "vitest";
import { listConversations } from "../../../../shared/domain/conversations/conversations.ts";
import { createdAt } from "../../../../shared/ids.ts";
import { expectLists } from "../../../support/cases/expect-counted.ts";
import { ConversationHistory, leadId } from "../../../support/cases/history.ts";

let history: ConversationHistory;
beforeEach(() => {
  history = new ConversationHistory();
});

/** Most conversations are on one channel, every fifth on another, and the oldest alone on a third. */
const fields = (n: number) => ({
  channel: n === 0 ? "sms" : n % 5 === 0 ? "instagram" : "whatsapp",
  status: n % 3 === 0 ? "active" : "closed",
});

/** Lists, and counts the queries apart from the admission of a long list. */
async function list(...[filter, request]: Parameters<ConversationHistory["list"]>) {
  const { result, calls, units } = await history.table.watch(() => history.list(filter, request));
  return { result, units, queries: calls.filter(({ name }) => name === "QueryCommand").length };
}

describe("the conversations of a lead", () => {
  test.each([
    { count: 0, units: 0.5, queries: 1 },
    { count: 20, units: 1.5, queries: 1 },
    { count: 200, units: 12, queries: 1 },
    { count: 2500, units: 147.5, queries: 2 },
  ])("have exact pages, each for $units units in $queries queries with $count conversations, plus half a unit for each row", async ({
    count,
    units,
    queries,
  }) => {
    history.addMany(count, {}, fields);
    for (const filter of [
      {},
      { status: "closed" },
      { channel: "instagram" },
      { channel: "sms" },
      { channel: "instagram", status: "active" },
      { channel: "sms", status: "nobodys" },
    ]) {
      const { total } = history.expected({ leadId, ...filter }).pagination;
      const last = Math.max(1, Math.ceil(total / 20));
      for (const page of new Set([1, 2, Math.ceil(last / 2), last, last + 1, last + 1000])) {
        const request = { page, limit: 20 };
        const result = history.expected({ leadId, ...filter }, request);
        expect(await list({ leadId, ...filter }, request)).toEqual({
          ...{ result, queries },
          units: units + result.data.length / 2,
        });
      }
    }
  });
});

test("a list of more conversations of a lead than it may read is refused, and possible with a later createdAfter", async () => {
  const ids = history.addMany(30_000);
  const { account } = history;
  const list = (query: object) => listConversations(account, { leadId, ...query });
  const createdAfter = createdAt(ids.at(-50) ?? "");
  for (const sort of ["-createdAt", "createdAt"] as const) {
    await expect(history.table.watch(() => list({ sort }))).rejects.toThrow(
      "createdAfter must be later, or createdBefore earlier: too many rows would be read",
    );
    expect(history.table.calls.length).toBeLessThanOrEqual(12);
    expect((await list({ sort, createdAfter })).pagination.total).toBe(50);
  }
});

test("conversations with a status that trees do not count are listed without a tree", async () => {
  const statuses = ["active", "closed", "paused", "refused"];
  history.addMany(300, { channel: "web" }, (n) => ({ status: statuses[Math.min(3, n)] ?? "" }));
  history.advance(60_000);
  await history.deliver();
  const id = history.add({ status: "refused", channel: "web" });
  history.advance(100_000);
  const filters = [{ status: "refused" }, { status: "refused", channel: "web" }, { status: "paused" }, {}];
  await expectLists(history, filters);
  history.delete(id);
  await expectLists(history, filters.slice(0, 3));
  const { calls } = await history.table.watch(() => history.list({ status: "refused" }));
  expect(calls.map(({ name }) => name)).toEqual(["QueryCommand", "BatchGetCommand"]);
});
