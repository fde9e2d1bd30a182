import { BatchGetCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, describe, expect, test } from "vitest";
import {
  conversationItem,
  listConversations,
} from "../../../../shared/domain/conversations/conversations.ts";
import { linkHeader } from "../../../../shared/http/link-header.ts";
import { createdAt } from "../../../../shared/ids.ts";
import type { ConversationsQuery } from "../../../../shared/schemas/conversation-schemas.ts";
import { ConversationHistory, leadId } from "../../../support/cases/history.ts";
import { MemoryTable } from "../../../support/memory-table/memory-table.ts";

let history: ConversationHistory;
beforeEach(() => {
  history = new ConversationHistory();
});

const list = (query: ConversationsQuery, limit = 20, page = 1) =>
  listConversations(history.account, { ...query, page: `${page}`, limit: `${limit}` });

/** Makes a conversation the newest one. */
function send(id: string): void {
  const row = history.rows.get(id);
  if (!row) throw new Error("There is no such conversation.");
  const { messageCount } = row;
  const sent = { ...row, messageCount: messageCount + 1, lastMessageAt: new Date(history.now).toISOString() };
  history.rows.set(id, sent);
  history.table.memory.put(conversationItem(history.account, sent));
}

const isQuery = ({ name, input }: { name: string; input: Readonly<Record<string, unknown>> }) =>
  name === "QueryCommand" && input.IndexName === "by-activity";

test.each([
  {
    what: "of every fourth row is read to its end in one call",
    rare: (n: number) => n % 4 === 0,
    count: 3000,
    page: 8,
    limit: 100,
    queries: 1,
  },
  {
    what: "of rows that are not among the newest is found by calls that read more and more",
    rare: (n: number) => n < 3000 && n % 2 === 0,
    page: 1,
    limit: 100,
    queries: 4,
  },
  { what: "of every 4th row is among the newest", rare: (n: number) => n % 4 === 0, page: 1, queries: 1 },
  { what: "of few rows is read in another index", rare: (n: number) => n >= 3990, page: 1, queries: 0 },
  {
    what: "far from the newest rows is read in the filter's own index",
    rare: (n: number) => n % 50 === 0,
    page: 4,
    queries: 0,
  },
  {
    what: "at the end of every twentieth row is read in the filter's own index",
    rare: (n: number) => n % 20 === 0,
    page: 2,
    limit: 100,
    queries: 0,
  },
  { what: "past the end reads no rows", rare: (n: number) => n < 300, page: 16, queries: 0 },
])("a page by the last message with a filter $what", async ({
  rare,
  count = 4000,
  page,
  limit = 20,
  queries,
}) => {
  const ids = history.addMany(count, { age: 60_000 }, (n) => ({ channel: rare(n) ? "sms" : "web" }));
  await history.deliver();
  history.advance(100_000);
  const { result, calls, units } = await history.table.watch(() =>
    list({ channel: "sms", sort: "-lastMessageAt" }, limit, page),
  );
  const expected = ids.filter((_, n) => rare(n)).reverse();
  const data = expected.slice((page - 1) * limit, page * limit);
  expect(result.data.map(({ id }) => id)).toEqual(data);
  expect(result.pagination.total).toBe(expected.length);
  expect(calls.filter(isQuery)).toHaveLength(queries);
  // Counting costs some units; all 4,000 rows have more than 120.
  expect(units).toBeLessThan(data.length === 0 ? 10 : 10 + Math.max(0.55 * expected.length, 100));
});

test("a list by the last message refuses a lead with too many conversations at little cost, unlike a list by creation", async () => {
  history.addMany(401);
  const bySort =
    "must be by createdAt with these filters, or createdAfter must be later: too many rows would be read";
  for (const [query, field, message] of [
    [{ sort: "-lastMessageAt" }, "sort", bySort],
    [{ lastMessageAfter: "2020-01-01T00:00:00Z" }, "createdAfter", expect.stringContaining("would be read")],
  ] as const) {
    const faults = [{ in: "query", field, code: "out_of_range", message }];
    await expect(history.table.watch(() => list({ leadId, ...query }))).rejects.toMatchObject({
      ...{ code: "invalid_input", details: { faults } },
    });
    expect(history.table.calls).toHaveLength(1);
  }
  expect((await list({ leadId })).pagination.total).toBe(401);
  const createdAfter = createdAt([...history.rows.keys()].at(-400) ?? "");
  const { data, pagination } = await list({ leadId, sort: "lastMessageAt", createdAfter });
  expect([pagination.total, data.length]).toEqual([400, 20]);
});

describe("with many large conversations, of which every third had later messages, and some at the same time,", () => {
  const sms = `sms${"\u{1F600}".repeat(61)}`;
  let start: number;
  const time = (n: number) => new Date(start + n).toISOString();

  beforeEach(async () => {
    start = history.now - 60_000;
    const lastMessage = { direction: "outbound" as const, text: "\u{1F600}".repeat(64) };
    history.addMany(3000, { age: 60_000 - 2999 }, (n) => ({
      ...{ channel: n % 2 ? "web" : sms, status: n % 5 ? "active" : "closed", lastMessage },
      lastMessageAt: time(8 * Math.ceil((n % 3 ? n : 2 * n) / 8)),
    }));
    await history.deliver();
    history.advance(100_000);
  });

  describe.each(["-lastMessageAt", "lastMessageAt"] as const)("a list by %s", (sort) => {
    test.each([
      "lastMessageBefore",
      "lastMessageAfter",
    ] as const)("is exact with %s, and costs only the shorter side of this bound", async (bound) => {
      const created = { createdAfter: time(500), createdBefore: time(2500) };
      for (const n of [100, 2900])
        for (const filter of [{}, { channel: sms }, { status: "closed" }, created]) {
          const rows = history
            .expected(filter === created ? {} : filter, { page: 1, limit: 3000 })
            .data.filter(({ lastMessageAt }) => lastMessageAt < time(n) === (bound === "lastMessageBefore"))
            .filter(
              ({ createdAt }) => filter !== created || (createdAt >= time(500) && createdAt < time(2500)),
            )
            .sort((a, b) => (`${a.lastMessageAt} ${a.id}` < `${b.lastMessageAt} ${b.id}` ? -1 : 1));
          if (sort === "-lastMessageAt") rows.reverse();
          const query = { ...filter, [bound]: time(n), sort };
          const { result, units } = await history.table.watch(() => list(query, 20, 2));
          const pagination = { page: 2, limit: 20, total: rows.length };
          expect(result).toEqual({ data: rows.slice(20, 40), pagination });
          // All rows have more than 200.
          expect(units).toBeLessThan(120);
        }
    });

    test("is read whole by its next links, which continue after its end at the time of its last row", async () => {
      const seen: string[] = [];
      let lists = 0;
      let query: Record<string, string> | undefined = { sort, status: "active", limit: "90" };
      while (query) {
        const { page = "1", limit, ...asked }: Record<string, string> = query;
        expect(Number(page)).toBeLessThanOrEqual(sort === "lastMessageAt" ? 1 : 22);
        if (page === "1") lists++;
        const result = await list(asked as ConversationsQuery, Number(limit), Number(page));
        seen.push(...result.data.map(({ id }) => id));
        const links = linkHeader("/", query, result);
        // A list that ends before its last row has no link to its last page.
        expect(links.includes('rel="last"')).toBe(result.pagination.total <= 22 * 90);
        const next: string | undefined = /<[^>]*\?([^>]*)>; rel="next"/.exec(links)?.[1];
        query = next ? Object.fromEntries(new URLSearchParams(next)) : undefined;
      }
      const { data } = history.expected({ status: "active" }, { page: 1, limit: 3000 });
      expect(new Set(seen)).toEqual(new Set(data.map(({ id }) => id)));
      // The next list begins at the time of the last row, so it repeats the rows of this time.
      expect(seen.length - data.length).toBeLessThanOrEqual(8 * (lists - 1));
    });
  });
});

describe("a list of conversations that await a reply", () => {
  const addWaiting = (count: number, others = 0, leadIds = leadId) =>
    history.addMany(count + others, {}, (n) => ({
      leadId: leadIds,
      ...(n < count && { awaitingReplySince: new Date(history.now + n).toISOString() }),
    }));

  test("costs only its own rows, however many other conversations exist", async () => {
    addWaiting(137, 2000);
    const { result, units } = await history.table.watch(() => list({ awaitingReply: "true" }));
    expect(result.data.map(({ id }) => id)).toEqual([...history.rows.keys()].slice(0, 20));
    expect(result.pagination.total).toBe(137);
    expect(units).toBeLessThanOrEqual(14);
    for (const filter of [{ leadId: "lead_1" }, { id: [...history.rows.keys()].slice(137, 140) }])
      expect((await list({ awaitingReply: "true", ...filter })).pagination.total).toBe(0);
  });

  test("is refused with a hint to bound the time if it would read too many rows, and is exact with such a bound", async () => {
    addWaiting(900, 0, "x".repeat(15_000));
    const message = "must be earlier, or awaitingReplyAfter later: too many rows would be read";
    const faults = [{ in: "query", field: "awaitingReplyBefore", code: "out_of_range", message }];
    await expect(list({ awaitingReply: "true" })).rejects.toMatchObject({ details: { faults } });
    const awaitingReplyBefore = new Date(history.now + 90).toISOString();
    expect((await list({ awaitingReply: "true", awaitingReplyBefore })).pagination.total).toBe(90);
  });
});

test("a row that is in an index and not yet in a late replica of the table is read consistently", async () => {
  const late = new MemoryTable();
  history.add();
  late.restore(history.table.memory.snapshot());
  history.add();
  history.table.shown = (command) => {
    const [request] =
      command instanceof BatchGetCommand ? Object.values(command.input.RequestItems ?? {}) : [];
    return request?.ConsistentRead === false ? late : history.table.memory;
  };
  expect(await list({ channel: "whatsapp" })).toEqual(history.expected());
});

describe("with indexes that are minutes late,", () => {
  let ids: string[];
  const [moved, closed, deleted] = [23, 27, 31];

  beforeEach(async () => {
    ids = history.addMany(40, { age: 60_000, channel: "sms" });
    await history.deliver();
    const late = new MemoryTable();
    late.restore(history.table.memory.snapshot());
    history.table.shown = (command) =>
      command instanceof QueryCommand && command.input.IndexName ? late : history.table.memory;
    history.advance(100_000);
    send(ids[moved] ?? "");
    history.setStatus(ids[closed] ?? "", "closed");
    history.delete(ids[deleted] ?? "");
    history.add({ channel: "sms" });
    await history.deliver();
  });

  test("a list by the last message has an exact total, and rows as they were: at old places, missing, or not yet deleted", async () => {
    history.delete(ids[33] ?? "");
    await history.deliver();
    const { data, pagination } = await list({ sort: "-lastMessageAt" }, 50);
    expect(pagination.total).toBe(39);
    expect(data.map(({ id }) => id)).toEqual(ids.toReversed());
    expect(data.at(-1 - moved)).toMatchObject({ id: ids[moved], messageCount: 1 });
    expect(data.at(-1 - closed)?.status).toBe("active");
  });

  test("the total of a list with lastMessageAfter is as late as its rows", async () => {
    const lastMessageAfter = new Date(history.now - 120_000).toISOString();
    expect((await list({ lastMessageAfter })).pagination.total).toBe(0);
    const all = await list({ lastMessageAfter: "2020-01-01T00:00:00Z" }, 50);
    expect([all.pagination.total, all.data.map(({ id }) => id)]).toEqual([40, ids.toReversed()]);
  });

  test("filtered lists and lists of a lead lack the new conversation, and have the other rows as the table has them", async () => {
    const { data, pagination } = await list({ status: "active" });
    expect(pagination.total).toBe(38);
    const truth = history.expected({ status: "active" }).data;
    expect(data.slice(0, 19)).toEqual(truth.slice(1));
    const ofLead = await list({ leadId, sort: "-lastMessageAt" });
    expect(ofLead.data[0]).toEqual(history.rows.get(ids[moved] ?? ""));
    expect(ofLead.pagination.total).toBe(39);
  });
});
