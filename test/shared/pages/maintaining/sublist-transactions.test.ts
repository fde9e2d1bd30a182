import { afterEach, expect, test, vi } from "vitest";
import { limits } from "../../../../shared/pages/tree/tree-limits.ts";
import { ConversationHistory } from "../../../support/conversation-history.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test.each([8, 40])("no commit of a lead's %i groups has more items than its limit", async (groups) => {
  const history = new ConversationHistory();
  const deliver = async () => {
    const { calls } = await history.table.watch(() => history.deliver());
    const commits = calls.filter(({ name }) => name === "TransactWriteCommand");
    return commits.map(({ input }) => (input.TransactItems as readonly object[]).length);
  };
  history.addMany(400, (n) => ({ status: "active", channel: `a${n % groups}` }));
  history.advance(60_000);
  const sizes = await deliver();
  for (const [n, id] of [...history.conversations.keys()].entries())
    history.change(id, { status: n % 2 === 0 ? "active" : "closed", channel: `b${n % groups}` });
  sizes.push(...(await deliver()));
  expect(Math.max(...sizes)).toBeLessThanOrEqual(limits.transactionNodes);
});
