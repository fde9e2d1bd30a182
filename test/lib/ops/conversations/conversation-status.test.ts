import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test, vi } from "vitest";
import { setConversationStatus } from "../../../../lib/ops/conversations/conversations-command.ts";
import { activeConversationKey } from "../../../../shared/dynamodb/keys.ts";
import { readItem } from "../../../../shared/dynamodb/table-client.ts";
import { call } from "../../../support/call.ts";
import { beforeCall } from "../../../support/conditions.ts";
import { useTablesOfCommands } from "../../../support/memory-tables.ts";
import { aLead, aMessage } from "../../../support/requests.ts";
import { put } from "../../../support/table-items.ts";

useTablesOfCommands();

const set = (account: string, id: string, status: string) => setConversationStatus(account, id, status);

const refused = (activeId = "") =>
  `The lead has another active conversation on this channel, ${activeId}: end that one first.`;

async function conversations(account: string, query = "") {
  return (await call("list-conversations", { account, query })).body.data;
}

const lock = async (account: string, leadId: string) =>
  (await readItem(activeConversationKey(account, leadId, "whatsapp")))?.conversationId;

/** Creates a lead with ended conversations on one channel; the lock names the last one. */
async function endedConversations(account: string, count: number) {
  const { id: leadId } = await aLead(account);
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    const { conversationId } = await aMessage(account, leadId);
    ids.push(conversationId);
    expect(await set(account, conversationId, "closed")).toMatchObject({ status: "closed" });
  }
  return { leadId, ids };
}

test("a changed status moves a conversation in every list, and changes nothing else", async () => {
  const account = randomUUID();
  const { id: leadId } = await aLead(account);
  const { conversationId } = await aMessage(account, leadId);
  const [before] = await conversations(account);
  const result = await set(account, conversationId, "on hold");
  expect(result).toEqual({ ...before, status: "on hold" });
  for (const query of [
    "status=on%20hold",
    "status=on%20hold&channel=whatsapp",
    "channel=whatsapp",
    `leadId=${leadId}`,
  ])
    expect(await conversations(account, query)).toEqual([{ ...before, status: "on hold" }]);
  expect(await conversations(account, "status=active")).toEqual([]);
});

test("a conversation becomes active again, whether the lock names it or one that has ended", async () => {
  const account = randomUUID();
  const { leadId, ids } = await endedConversations(account, 2);
  const [older = "", newer = ""] = ids;
  expect(await set(account, newer, "active")).toMatchObject({ status: "active" });
  expect((await aMessage(account, leadId)).conversationId).toBe(newer);
  await set(account, newer, "closed");
  expect(await set(account, older, "active")).toMatchObject({ status: "active" });
  expect(await lock(account, leadId)).toBe(older);
  expect((await aMessage(account, leadId)).conversationId).toBe(older);
  await expect(set(account, newer, "active")).rejects.toThrow(refused(older));
});

test("a lock to the active conversation of another lead or channel, or to none, is replaced", async () => {
  const account = randomUUID();
  const { leadId, ids } = await endedConversations(account, 1);
  const [id = ""] = ids;
  const ofBob = (await aMessage(account, (await aLead(account)).id)).conversationId;
  const bySms = (await aMessage(account, leadId, "sms")).conversationId;
  const before = await conversations(account, "status=active");
  for (const conversationId of [ofBob, bySms, undefined, 5, "x".repeat(2000)]) {
    await put({ ...activeConversationKey(account, leadId, "whatsapp"), conversationId });
    expect(await set(account, id, "active")).toMatchObject({ status: "active" });
    expect(await lock(account, leadId)).toBe(id);
    expect((await aMessage(account, leadId)).conversationId).toBe(id);
    await set(account, id, "closed");
  }
  expect(await conversations(account, "status=active")).toEqual(before);
});

test("a message joins an ended conversation that becomes active while the message is sent", async () => {
  const account = randomUUID();
  const { leadId, ids } = await endedConversations(account, 1);
  const [id = ""] = ids;
  // A conflict is retried for 300 ms, which a busy machine may need for the change.
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  // The message first tries to join. The transaction that starts a new conversation begins with the lock.
  using _ = beforeCall(
    ({ input }) => input.TransactItems?.[0].Put !== undefined,
    () => set(account, id, "active"),
  );
  expect((await aMessage(account, leadId)).conversationId).toBe(id);
  expect(await conversations(account, "status=active")).toMatchObject([{ id, messageCount: 2 }]);
});
