import { afterEach, expect, test, vi } from "vitest";
import { ConversationHistory } from "../../../support/conversation-history.ts";
import { smallLimits } from "../../../support/small-limits.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test("no commit of a channel has more items than its limit", async () => {
  const history = new ConversationHistory();
  const deliver = async () => {
    const { calls } = await history.table.watch(() => history.deliver(smallLimits));
    const commits = calls.filter(({ name }) => name === "TransactWriteCommand");
    return commits.map(({ input }) => (input.TransactItems as readonly object[]).length);
  };
  history.addMany(100, () => ({ status: "active", channel: "a" }));
  history.advance(60_000);
  const sizes = await deliver();
  for (const [n, id] of [...history.conversations.keys()].entries())
    history.change(id, { status: n % 2 === 0 ? "active" : "closed", channel: n % 3 === 0 ? "b" : "a" });
  sizes.push(...(await deliver()));
  expect(Math.max(...sizes)).toBeLessThanOrEqual(smallLimits.transactionNodes);
});
