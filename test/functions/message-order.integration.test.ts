import { expect, test, vi } from "vitest";
import { call } from "../support/call.ts";
import { aLead } from "../support/requests.ts";

test.each([
  "no Idempotency-Key",
  "an Idempotency-Key each",
])("of 25 messages in the same millisecond to one conversation, with %s, each is stored once, a millisecond after another", async (keys) => {
  const { id: leadId } = await aLead(keys);
  const start = Date.now();
  vi.useFakeTimers({ toFake: ["Date"], now: start });
  const send = (n: number) =>
    call("send-message", {
      account: keys,
      body: { leadId, channel: "sms", message: `message ${n}` },
      ...(keys.startsWith("an") && { headers: { "idempotency-key": `key-${n}` } }),
    });
  const sent = await Promise.all(Array.from({ length: 25 }, (_, n) => send(n)));
  expect(sent.map(({ status }) => status)).toEqual(Array(25).fill(201));
  // Newest first.
  const messages = sent.map(({ body }) => body).sort((a, b) => (a.id < b.id ? 1 : -1));
  expect(messages.map(({ createdAt }) => Date.parse(createdAt) - start)).toEqual(
    Array.from({ length: 25 }, (_, n) => 24 - n),
  );
  const { conversationId: id, createdAt: lastMessageAt } = messages[0] ?? {};
  const query = `id=${id}&include=messages&messageLimit=100`;
  const { data } = (await call("list-conversations", { account: keys, query })).body;
  expect(data).toMatchObject([{ id, messageCount: 25, lastMessageAt, messages }]);
});
