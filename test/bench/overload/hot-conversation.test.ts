import { join } from "node:path";
import { expect, test } from "vitest";
import { loadSendMessage, runHotConversation } from "./hot-conversation.ts";

const load = await loadSendMessage(join(import.meta.dirname, "../../.."));

/** What a conversation takes at the least of more than it can take, in messages a second. */
const capacity = 55;

test.each([
  { perSecond: 500, seconds: 10, mostBusy: 250 },
  { perSecond: 100, seconds: 20, mostBusy: 60 },
  { perSecond: 20, seconds: 60, mostBusy: 10 },
])("$perSecond messages a second to one conversation keep at most $mostBusy executions busy", async ({
  perSecond,
  seconds,
  mostBusy,
}) => {
  const { hot, alone, beside, stored } = await runHotConversation(load, perSecond, seconds, 1);
  expect(hot.mostBusy).toBeLessThanOrEqual(mostBusy);
  expect(hot.sent.length).toBeGreaterThan(Math.min(0.9 * perSecond, capacity) * seconds);
  // Each message that was sent is stored and counted once, and no other is.
  expect(stored.messages.map(({ message }) => message).sort()).toEqual([...hot.sent].sort());
  const newest = stored.messages
    .map(({ createdAt }) => String(createdAt))
    .sort()
    .at(-1);
  expect(stored.conversations).toEqual([
    expect.objectContaining({ messageCount: hot.sent.length, lastMessageAt: newest }),
  ]);
  const refused = hot.waits.length;
  expect(hot.statuses).toEqual({ 201: hot.sent.length, ...(refused > 0 && { too_many_at_once: refused }) });
  // Twenty a second are few enough for each to be sent.
  expect(refused > 0).toBe(perSecond > 20);
  // Those that are refused at the same time are told different times, which grow.
  if (refused > 0) expect(new Set(hot.waits).size).toBeGreaterThanOrEqual(4);
  expect(beside.statuses).toEqual({ 201: beside.sent.length });
  expect(beside.p99).toBeLessThanOrEqual(1.5 * alone.p99);
});
