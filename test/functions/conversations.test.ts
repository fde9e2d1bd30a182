import { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, test, vi } from "vitest";
import { setConversationStatus } from "../../lib/ops/conversations/conversations-command.ts";
import { conversationKey } from "../../shared/dynamodb/keys.ts";
import { call } from "../support/call.ts";
import { pick, seeded } from "../support/random.ts";
import { aLead, aMessage } from "../support/requests.ts";
import { WatchedTable } from "../support/watched-table.ts";

const account = "acme";

let table: WatchedTable;
let leadId: string;
beforeEach(async () => {
  table = new WatchedTable();
  // Where the clock stands still, no deadline ends retries.
  table.before = (_, call) => {
    if (call > 10_000) throw new Error("A message is retried without end.");
  };
  ({ id: leadId } = await aLead(account));
});

const setStatus = (id: string, status: string) => setConversationStatus(account, id, status);

/** Each conversation with its status and the number of its messages, newest first. */
const summary = async () =>
  (await call("list-conversations", { account })).body.data.map(({ id, status, messageCount }) => [
    id,
    status,
    messageCount,
  ]);

test("a message starts another conversation after one that has ended, or is gone", async () => {
  const first = await aMessage(account, leadId);
  await setStatus(first.conversationId, "Closed");
  const second = await aMessage(account, leadId);
  expect(await summary()).toEqual([
    [second.conversationId, "active", 1],
    [first.conversationId, "closed", 1],
  ]);
  table.memory.delete(conversationKey(account, second.conversationId));
  const third = await aMessage(account, leadId);
  expect(await summary()).toEqual([
    [third.conversationId, "active", 1],
    [first.conversationId, "closed", 1],
  ]);
});

test("another spelling of active does not end a conversation", async () => {
  const { conversationId } = await aMessage(account, leadId);
  expect(await setStatus(conversationId, "Active")).toMatchObject({ status: "active" });
  expect((await aMessage(account, leadId)).conversationId).toBe(conversationId);
});

/** Runs something once, before a message starts a conversation. */
function beforeStart(run: () => Promise<unknown>) {
  table.before = (command) => {
    if (!(command instanceof TransactWriteCommand)) return;
    const puts = command.input.TransactItems?.filter(({ Put }) => Put?.Item?.pk.startsWith("CONVERSATION#"));
    if (!puts?.length) return;
    table.before = () => {};
    return run();
  };
}

test.each([
  false,
  true,
])("of two messages, one starts a conversation, and the other joins it (after another: %s)", async (isAfterAnother) => {
  if (isAfterAnother) await setStatus((await aMessage(account, leadId)).conversationId, "closed");
  beforeStart(() => aMessage(account, leadId));
  const { conversationId } = await aMessage(account, leadId);
  expect((await summary())[0]).toEqual([conversationId, "active", 2]);
});

test("a message joins a conversation that is active again, so that no lead has two on a channel", async () => {
  const { conversationId } = await aMessage(account, leadId);
  await setStatus(conversationId, "closed");
  beforeStart(() => setStatus(conversationId, "active"));
  expect((await aMessage(account, leadId)).conversationId).toBe(conversationId);
  expect(await summary()).toEqual([[conversationId, "active", 2]]);
});

test("ids of a conversation increase with each message that is stored, whatever the clocks of the machines", async () => {
  const random = seeded(1);
  const start = Date.now();
  vi.useFakeTimers({ toFake: ["Date"] });
  const messages = [];
  for (let sent = 0; sent < 100; sent++) {
    vi.setSystemTime(start + Math.floor(sent / 5) + pick(random, [0, 0, 1, 5, -1, -5, 20_000, -20_000]));
    messages.push(await aMessage(account, leadId));
  }
  const ids = messages.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].sort());
  expect(await summary()).toEqual([[messages[0]?.conversationId, "active", 100]]);
  const { body } = await call("list-conversations", { account });
  expect(body.data[0]?.lastMessageAt).toBe(messages.at(-1)?.createdAt);
});
