import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { readRoot } from "../../../../shared/pages/tree/tree-store.ts";
import { ConversationHistory } from "../../../support/conversation-history.ts";
import { expectExactPages } from "../../../support/exact-pages.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const leadId = "lead_1";

/** Most conversations are active and on one channel; every tenth is closed, every fortieth on a rare channel. */
const fields = (n: number) => ({
  status: n % 10 === 3 ? "closed" : "active",
  channel: n % 40 === 13 ? "rare" : n % 3 === 0 ? "sms" : "web",
});

const filters = [
  { leadId },
  { leadId, status: "active" },
  { leadId, status: "closed" },
  { leadId, status: "nobodys" },
  { leadId, channel: "web" },
  { leadId, channel: "rare" },
  { leadId, channel: "nobodys" },
  { leadId, channel: "web", status: "closed" },
  { leadId, channel: "rare", status: "active" },
  { leadId, channel: "rare", status: "nobodys" },
] as const;

const expectExact = (history: ConversationHistory, limits?: readonly number[]) =>
  expectExactPages(history, history.owner, filters, limits);

describe("a lead without a tree", () => {
  test.each([0, 1, 23, 24, 25, 26, 100, 192])("with %i conversations: every page is exact", async (count) => {
    const history = new ConversationHistory();
    history.addMany(count, fields);
    history.advance(60_000);
    await history.deliver();
    expect(await readRoot(history.owner)).toBeUndefined();
    await expectExact(history);
  });
});

describe("a lead with a tree", () => {
  let history: ConversationHistory;

  /** Conversations, of which the tree has most: the last minute is its tail. */
  beforeEach(async () => {
    history = new ConversationHistory();
    history.addMany(400, fields);
    history.advance(60_000);
    await history.deliver();
    history.addMany(45, fields);
  });

  test("has groups in nodes, and a tail", async () => {
    const root = await readRoot(history.owner);
    expect(root?.level).toBeGreaterThanOrEqual(1);
    const inTail = [...history.conversations.keys()].filter((id) => id >= (root?.watermark ?? ""));
    expect(inTail).toHaveLength(45);
  });

  test("every page is exact: in the tail, over its border with the tree, in the tree, and past the end", async () => {
    await expectExact(history);
  });

  test("every page is exact after changes and deletions, in the tree and in the tail", async () => {
    const ids = [...history.conversations.keys()];
    for (const [n, id] of ids.entries()) {
      if (n % 17 === 0) history.change(id, { status: n % 2 === 0 ? "closed" : "active" });
      if (n % 23 === 0) history.change(id, { channel: n % 2 === 0 ? "rare" : "sms" });
      if (n % 29 === 0) history.delete(id);
    }
    await history.deliver();
    await expectExact(history);
  });

  test("every page is exact when a group has lost all of its conversations", async () => {
    for (const { id, channel } of history.conversations.values()) if (channel === "rare") history.delete(id);
    await history.deliver();
    await expectExact(history, [20]);
    expect((await history.list({ leadId, channel: "rare" })).pagination.total).toBe(0);
  });

  test("a group that no conversation was ever in costs two reads of roots, and the newest rows", async () => {
    const filter = { leadId, channel: "nobodys" };
    const { result, calls } = await history.table.watch(() => history.list(filter));
    expect(result).toEqual(history.expected(filter));
    expect(calls.map(({ name }) => name).sort()).toEqual([
      ...["GetCommand", "GetCommand", "QueryCommand", "QueryCommand"],
    ]);
  });

  test("a sparse group is read by its keys, and costs no more than its page", async () => {
    const filter = { leadId, channel: "rare" };
    const { calls, units } = await history.table.watch(() => history.list(filter, { page: 1, limit: 20 }));
    expect(calls.filter(({ name }) => name === "BatchGetCommand").map(({ rows }) => rows)).toEqual([
      // The others are in the tail.
      10,
    ]);
    expect(units).toBeLessThanOrEqual(20);
  });

  test("a dense group is read as a range between its keys", async () => {
    const filter = { leadId, status: "active" };
    const { calls, units } = await history.table.watch(() => history.list(filter, { page: 9, limit: 20 }));
    expect(calls.filter(({ name }) => name === "BatchGetCommand")).toEqual([]);
    expect(calls.reduce((sum, { rows }) => sum + rows, 0)).toBeLessThan(24 + 45 + 21);
    expect(units).toBeLessThanOrEqual(20);
  });

  test("the groups of another lead with the same filters are apart", async () => {
    for (let n = 0; n < 200; n++) history.add({ leadId: "lead_2", ...fields(n) });
    history.advance(60_000);
    await history.deliver();
    for (const filter of filters) {
      const ofOther = { ...filter, leadId: "lead_2" };
      expect(await history.list(ofOther)).toEqual(history.expected(ofOther));
    }
    await expectExact(history, [20]);
  });
});
