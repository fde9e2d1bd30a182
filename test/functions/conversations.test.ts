import { DeleteCommand, QueryCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { setConversationStatus } from "../../lib/ops/conversations/conversation-status.ts";
import { conversationKey, messageKey } from "../../shared/dynamodb/keys.ts";
import { tableName } from "../../shared/dynamodb/table-client.ts";
import { createdAt } from "../../shared/ids.ts";
import { call } from "../support/call.ts";
import { aLead, aMessage } from "../support/requests.ts";
import { WatchedTable } from "../support/watched-table.ts";

const account = "acme";

let table: WatchedTable;
let leadId: string;
beforeEach(async () => {
  table = new WatchedTable();
  ({ id: leadId } = await aLead(account));
});
afterEach(() => void vi.restoreAllMocks());

const setStatus = (id: string, status: string) =>
  setConversationStatus(account, id, status, Date.now() + 60_000);

const conversations = async (of = account) => (await call("list-conversations", { account: of })).body.data;

/** Each conversation with its status and the number of its messages, newest first. */
const summary = async () =>
  (await conversations()).map(({ id, status, messageCount }) => [id, status, messageCount]);

test("the first message starts a conversation of one message, at its time", async () => {
  // However slow the machine is.
  let now = Date.now();
  vi.spyOn(Date, "now").mockImplementation(() => ++now);
  const text = "Hello,\r\n\tAda \u{1F44B}";
  const sent = await aMessage(account, leadId, "instagram", text);
  expect(sent).toEqual({
    id: expect.stringMatching(/^msg_[0-9A-HJKMNP-TV-Z]{26}$/),
    conversationId: expect.stringMatching(/^conv_[0-9A-HJKMNP-TV-Z]{26}$/),
    ...{ leadId, channel: "instagram", message: text },
    createdAt: expect.any(String),
  });
  expect(createdAt(sent.conversationId)).toBe(sent.createdAt);
  const started = { leadId, channel: "instagram", status: "active", messageCount: 1 };
  expect(await conversations()).toEqual([
    { ...started, id: sent.conversationId, lastMessageAt: sent.createdAt },
  ]);
});

test("messages join the active conversation of their lead on their channel, and each is stored", async () => {
  const sent = [];
  for (const text of ["one", "two", "three"]) sent.push(await aMessage(account, leadId, "whatsapp", text));
  const elsewhere = await aMessage(account, leadId, "instagram");
  const another = await aMessage(account, (await aLead(account)).id, "whatsapp");
  const [id = "", ...others] = new Set(sent.map(({ conversationId }) => conversationId));
  expect(others).toEqual([]);
  expect(new Set([id, elsewhere.conversationId, another.conversationId]).size).toBe(3);
  expect(await conversations()).toContainEqual(
    expect.objectContaining({ id, messageCount: 3, lastMessageAt: sent[2]?.createdAt }),
  );
  const { output } = table.memory.execute(
    new QueryCommand({
      TableName: tableName,
      KeyConditionExpression: "pk = :pk",
      ExpressionAttributeValues: { ":pk": messageKey(account, id, "").pk },
    }),
  );
  expect(output).toMatchObject({ Items: sent });
});

test("a message starts another conversation after one that has ended, or is gone", async () => {
  const first = await aMessage(account, leadId);
  await setStatus(first.conversationId, "Closed");
  const second = await aMessage(account, leadId);
  expect(await summary()).toEqual([
    [second.conversationId, "active", 1],
    [first.conversationId, "closed", 1],
  ]);
  const Key = conversationKey(account, second.conversationId);
  table.memory.execute(new DeleteCommand({ TableName: tableName, Key }));
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

test("a message joins a conversation that is active again, so that no lead has two on a channel", async () => {
  const { conversationId } = await aMessage(account, leadId);
  await setStatus(conversationId, "closed");
  // It is reactivated before the message starts another one.
  table.before = (command) => {
    if (!(command instanceof TransactWriteCommand)) return;
    const puts = command.input.TransactItems?.filter(({ Put }) => Put?.Item?.pk.startsWith("CONVERSATION#"));
    if (!puts?.length) return;
    table.before = () => {};
    return setStatus(conversationId, "active");
  };
  expect((await aMessage(account, leadId)).conversationId).toBe(conversationId);
  expect(await summary()).toEqual([[conversationId, "active", 2]]);
});

test("another account's lead gives the same problem as one that does not exist", async () => {
  const send = (id: string) =>
    call("send-message", { account: "stranger", body: { leadId: id, channel: "a", message: "Hello" } });
  const [theirs, nobodys] = [await send(leadId), await send("lead_nobody")];
  expect(theirs.status).toBe(404);
  expect(theirs.problem).toEqual(nobodys.problem);
  expect([await conversations(), await conversations("stranger")]).toEqual([[], []]);
});
