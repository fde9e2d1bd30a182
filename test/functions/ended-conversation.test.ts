import { DeleteCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { setConversationStatus } from "../../lib/ops/conversations/conversation-status.ts";
import { conversationKey } from "../../shared/dynamodb/keys.ts";
import { tableName } from "../../shared/dynamodb/table-client.ts";
import { call } from "../support/call.ts";
import { aLead, aMessage } from "../support/requests.ts";
import { WatchedTable } from "../support/watched-table.ts";

const account = "acme";

let table: WatchedTable;
beforeEach(() => {
  table = new WatchedTable();
});
afterEach(() => void vi.restoreAllMocks());

const setStatus = (id: string, status: string) =>
  setConversationStatus(account, id, status, Date.now() + 60_000);

/** Runs something before a message starts a conversation. */
function beforeStart(run: () => unknown): void {
  table.before = (command) => {
    if (!(command instanceof TransactWriteCommand)) return;
    const puts = command.input.TransactItems?.filter(({ Put }) => Put?.Item?.pk.startsWith("CONVERSATION#"));
    if (!puts?.length) return;
    table.before = () => {};
    return run();
  };
}

const listConversations = async () =>
  (await call("list-conversations", { account })).body.data.map(({ id, status, messageCount }) => [
    id,
    status,
    messageCount,
  ]);

test("a message joins a conversation that is active again, so that no lead has two on a channel", async () => {
  const lead = await aLead(account);
  const { conversationId } = await aMessage(account, lead.id);
  await setStatus(conversationId, "closed");
  beforeStart(() => setStatus(conversationId, "active"));
  expect((await aMessage(account, lead.id)).conversationId).toBe(conversationId);
  expect(await listConversations()).toEqual([[conversationId, "active", 2]]);
});

test("a message starts another conversation after one that has ended, or is gone", async () => {
  const lead = await aLead(account);
  const first = await aMessage(account, lead.id);
  await setStatus(first.conversationId, "closed");
  const second = await aMessage(account, lead.id);
  expect(await listConversations()).toEqual([
    [second.conversationId, "active", 1],
    [first.conversationId, "closed", 1],
  ]);
  const Key = conversationKey(account, second.conversationId);
  table.memory.execute(new DeleteCommand({ TableName: tableName, Key }));
  const third = await aMessage(account, lead.id);
  expect(await listConversations()).toEqual([
    [third.conversationId, "active", 1],
    [first.conversationId, "closed", 1],
  ]);
});
