import { TransactWriteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, test, vi } from "vitest";
import { conversationItem } from "../../../shared/domain/conversations/conversations.ts";
import { activeConversationKey, conversationKey, leadKey } from "../../../shared/dynamodb/keys.ts";
import { readItem } from "../../../shared/dynamodb/table-client.ts";
import { pick, seeded } from "../../support/cases/random.ts";
import { call } from "../../support/requests/call.ts";
import { aLead, aMessage, setStatus } from "../../support/requests/requests.ts";
import { startedConversation } from "../../support/tables/stored.ts";
import { useTable } from "../../support/tables/watched-table.ts";

const account = "acme";

const table = useTable();
let leadId: string;
beforeEach(async () => {
  // While the clock stands still, no deadline ends retries.
  table.before = (_, call) => {
    if (call > 10_000) throw new Error("A message is retried without end.");
  };
  ({ id: leadId } = await aLead(account));
});

const list = async (query = "") => (await call("list-conversations", { account, query })).body.data;

/** Creates an ended conversation of the lead. @returns its id */
async function ended(): Promise<string> {
  const { conversationId } = await aMessage(account, leadId);
  expect((await setStatus(account, conversationId, "closed")).status).toBe(200);
  return conversationId;
}

const lockKey = () => activeConversationKey(account, leadId, "whatsapp");

/** Runs a function once, before the n-th write from now on. */
function beforeWrite(n: number, run: () => unknown) {
  let writes = 0;
  table.before = (command) => {
    const isWrite = command instanceof UpdateCommand || command instanceof TransactWriteCommand;
    if (isWrite && ++writes === n) return run();
  };
}

test("a message joins a conversation that is reopened meanwhile, so that no lead has two active ones on a channel", async () => {
  const id = await ended();
  // The message first tries to join the conversation, and then to start another one.
  beforeWrite(2, () => setStatus(account, id, "active"));
  expect((await aMessage(account, leadId)).conversationId).toBe(id);
  expect(await list()).toMatchObject([{ id, status: "active", messageCount: 2 }]);
});

test.each([
  ["the lock named that one before", [0], 0],
  ["the lock names that one from then on", [0], 1],
  ["there was no lock before", [], 0],
])("a conversation is not reopened while another one becomes active: %s", async (_, named, n) => {
  const [id, ...others] = [await ended(), await ended(), await ended()] as const;
  const other = others[n] ?? "";
  table.memory.delete(lockKey());
  for (const index of named) table.memory.put({ ...lockKey(), conversationId: others[index] });
  beforeWrite(1, () => {
    table.memory.put(conversationItem(account, startedConversation(other, { leadId })));
    table.memory.put({ ...lockKey(), conversationId: other });
  });
  expect((await setStatus(account, id, "active")).problem).toMatchObject({
    ...{ status: 409, code: "conversation_exists", id: other },
    detail: `The lead has another active conversation on this channel: ${other}. End that one first.`,
  });
  expect(await list("status=active")).toMatchObject([{ id: other }]);
});

test("a conversation is not ended if its lead writes meanwhile and the request states the number of messages read", async () => {
  const { conversationId: id } = await aMessage(account, leadId, "whatsapp", { direction: "inbound" });
  const changed = { status: 409, code: "conversation_changed", id };
  // The message is stored before the status is written, so that the next attempt sees it.
  beforeWrite(1, () => aMessage(account, leadId, "whatsapp", { direction: "inbound" }));
  for (const status of ["closed", "active"])
    expect((await setStatus(account, id, status, {}, 1)).problem).toMatchObject(changed);
  const [waiting] = await list("awaitingReply=true");
  expect(waiting).toMatchObject({ id, messageCount: 2 });
  const headers = { "idempotency-key": "once" };
  const { awaitingReplySince, ...whole } = { ...waiting, status: "closed" };
  for (const _ of ["first", "again"])
    expect((await setStatus(account, id, "closed", headers, 2)).body).toEqual(whole);
  for (const query of ["awaitingReply=true", "status=active", "status=active&channel=whatsapp"])
    expect(await list(query)).toEqual([]);
  for (const query of ["status=closed", "status=closed&channel=whatsapp"])
    expect(await list(query)).toEqual([whole]);
});

test("a conversation is reopened even if its lock names one of another lead or channel, or none", async () => {
  const id = await ended();
  const ofAnother = (await aMessage(account, (await aLead(account)).id)).conversationId;
  const bySms = (await aMessage(account, leadId, "sms")).conversationId;
  for (const conversationId of [ofAnother, bySms, undefined, 5, "x".repeat(2000)]) {
    table.memory.put({ ...lockKey(), conversationId });
    expect((await setStatus(account, id, "active")).body).toMatchObject({ id, status: "active" });
    expect(await readItem(lockKey())).toMatchObject({ conversationId: id });
    await setStatus(account, id, "closed");
  }
});

test("a change of status restores no conversation that is deleted meanwhile, and reopens none of an erased lead", async () => {
  const id = await ended();
  const notFound = { status: 404, code: "conversation_not_found" };
  table.memory.delete(leadKey(account, leadId));
  expect((await setStatus(account, id, "active")).problem).toMatchObject(notFound);
  const key = conversationKey(account, id);
  beforeWrite(1, () => table.memory.delete(key));
  expect((await setStatus(account, id, "lost")).problem).toMatchObject(notFound);
  expect(await readItem(key)).toBeUndefined();
});

test("the ids of a conversation's messages increase in the order of storage, whatever the clocks of the machines show", async () => {
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
  const last = { id: messages[0]?.conversationId, lastMessageAt: messages.at(-1)?.createdAt };
  expect(await list()).toMatchObject([{ ...last, status: "active", messageCount: 100 }]);
});
