import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { filteredRange } from "../../../../shared/pages/read/counted-range.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { limits } from "../../../../shared/pages/tree/tree-limits.ts";
import { readRoot } from "../../../../shared/pages/tree/tree-store.ts";
import { ConversationHistory } from "../../../support/conversation-history.ts";
import { expectExactPages } from "../../../support/exact-pages.ts";
import { LeadHistory } from "../../../support/lead-history.ts";
import { smallLimits } from "../../../support/small-limits.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Most conversations are on one channel, where every tenth is closed; every fortieth is on a rare one. */
const fields = (n: number) => ({
  status: n % 10 === 3 ? "closed" : "active",
  channel: n % 40 === 13 ? "rare" : "web",
});

const filters = [
  {},
  { channel: "web" },
  { channel: "web", status: "active" },
  { channel: "web", status: "closed" },
  { channel: "web", status: "nobodys" },
  { channel: "rare" },
  { channel: "rare", status: "active" },
  { channel: "nobodys" },
  { channel: "nobodys", status: "active" },
] as const;

const tree = ({ account }: ConversationHistory, sourceOrChannel: string) =>
  filteredRange(account, countedLists.conversation, { sourceOrChannel }).tree;

describe.each([
  ["production", undefined, 500],
  ["a deep tree", { ...smallLimits, rootBytes: 450, nodeBytes: 250, keptBytes: 200 }, 120],
] as const)("the conversations of a channel, with the limits of %s", (_, limits, count) => {
  let history: ConversationHistory;

  beforeEach(async () => {
    history = new ConversationHistory();
    history.addMany(count, fields);
    history.advance(60_000);
    await history.deliver(limits);
    history.addMany(45, fields);
  });

  const expectExact = () => expectExactPages(history, tree(history, "web"), filters);

  test("are counted in a tree of their own, except for the newest", async () => {
    const root = await readRoot(tree(history, "web"));
    const uncounted = [...history.conversations.values()]
      .filter(({ channel }) => channel === "web")
      .filter(({ id }) => id >= (root?.watermark ?? ""));
    expect(root?.level).toBeGreaterThanOrEqual(1);
    expect(uncounted.length).toBeGreaterThanOrEqual(44);
    // So few older ones do not pay a commit.
    expect(uncounted.length).toBeLessThan(44 + smallLimits.sublistTail);
  });

  test("every page is exact: in the tail, over its border with the tree, in the tree, and past the end", async () => {
    await expectExact();
  });

  test("every page is exact after changes and deletions, in the tree and in the tail", async () => {
    for (const [n, id] of [...history.conversations.keys()].entries()) {
      if (n % 17 === 0) history.change(id, { status: n % 2 === 0 ? "closed" : "active" });
      if (n % 23 === 0) history.change(id, { channel: n % 2 === 0 ? "rare" : "web" });
      if (n % 29 === 0) history.delete(id);
    }
    await history.deliver(limits);
    await expectExact();
  });

  test("every page is exact after the last of them is gone, and when there are some again", async () => {
    for (const { id, channel } of history.conversations.values()) if (channel === "web") history.delete(id);
    await history.deliver(limits);
    await expectExact();
    expect((await history.list({ channel: "web" })).pagination.total).toBe(0);
    history.addMany(30, fields);
    history.advance(60_000);
    await history.deliver(limits);
    await expectExact();
  });
});

describe("a channel without a tree", () => {
  test.each([1, 20, 21, 192])("every page of %i conversations is exact", async (count) => {
    const history = new ConversationHistory();
    history.addMany(count, () => ({ status: "active", channel: "web" }));
    history.advance(60_000);
    await history.deliver();
    expect(await readRoot(tree(history, "web"))).toBeUndefined();
    await expectExactPages(history, tree(history, "web"), filters);
  });
});

test("statuses that a tree has no cells for are read plainly, and remembered by no list", async () => {
  const history = new ConversationHistory();
  const statuses = ["active", "closed", "paused", "refused"];
  history.addMany(300, (n) => ({ status: statuses[Math.min(3, n)] ?? "", channel: "web" }));
  history.advance(60_000);
  await history.deliver();
  const id = history.add({ status: "refused", channel: "web" });
  history.advance(100_000);
  const refused = [{ status: "refused" }, { status: "refused", channel: "web" }];
  for (const filter of refused) expect(await history.list(filter)).toEqual(history.expected(filter));
  history.delete(id);
  await history.deliver();
  for (const filter of refused) expect(await history.list(filter)).toEqual(history.expected(filter));
});

test("many back-dated rows of a sublist are counted at once, although its index may not have them yet", async () => {
  const history = new LeadHistory();
  history.addMany(300, { source: "fair", age: 60_000 });
  await history.deliver();
  history.advance(100_000);
  // What is written from now on was not there before.
  await history.list();
  history.addMany(limits.youngTail + 1, { source: "fair", age: 45_000 });
  await history.deliver();
  const root = await readRoot(
    filteredRange(history.account, countedLists.lead, { sourceOrChannel: "fair" }).tree,
  );
  const newest = [...history.leads.keys()].sort().at(-1) ?? "";
  expect(String(root?.watermark) > newest).toBe(true);
  expect(await history.list({ source: "fair" })).toEqual(history.expected({ source: "fair" }));
});
