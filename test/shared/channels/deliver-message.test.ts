import { randomUUID } from "node:crypto";
import { beforeEach, expect, test, vi } from "vitest";
import { connect, disconnect, readSenderAccount } from "../../../shared/channels/connections.ts";
import { deliverMessage, type MessageSent } from "../../../shared/channels/deliver-message.ts";
import { receiveEntry } from "../../../shared/channels/receive-entry.ts";
import * as secrets from "../../../shared/channels/secrets.ts";
import * as states from "../../../shared/domain/conversations/update-message.ts";
import { TooManyAtOnceError } from "../../../shared/dynamodb/dynamodb-errors.ts";
import type { NewMessage, OpenedConversation } from "../../../shared/schemas/conversation-schemas.ts";
import { call } from "../../support/requests/call.ts";
import { aLead, aMessage } from "../../support/requests/requests.ts";
import { useTable } from "../../support/tables/watched-table.ts";

let readSecret = vi.spyOn(secrets, "readSecret");
const fetched = vi.fn<typeof fetch>();
let account: string;
const { memory } = useTable();
beforeEach(async () => {
  vi.stubGlobal("fetch", fetched);
  fetched.mockReset();
  readSecret = vi.spyOn(secrets, "readSecret").mockResolvedValue("token");
  account = randomUUID();
  await connect({ account, channel: "whatsapp", sender: "106" });
});

const taken = () => Response.json({ messages: [{ id: "wamid.1" }] });
const refused = (code: number) => Response.json({ error: { code, message: "Why" } }, { status: 400 });

async function aSentMessage(
  addresses: Record<string, string[]> = { whatsapp: ["491"] },
  input: Partial<NewMessage> = {},
) {
  const { id } = await aLead(account, { addresses });
  const message = await aMessage(account, id, "whatsapp", input);
  return {
    ...message,
    type: "message.sent",
    version: 1,
    account,
    to: addresses[message.channel]?.[0],
  } as MessageSent;
}

const deliver = (event: MessageSent, isLast = false) => deliverMessage(event, { isLast });

const tell = ({ id, conversationId }: MessageSent, state: "sent" | "delivered", lead = "491") =>
  receiveEntry(account, {
    ...{ kind: "state", channel: "whatsapp", sender: "106", providerId: "wamid.1", delivery: state, lead },
    callbackData: `${conversationId} ${id}`,
  });

async function stateOf({ conversationId }: MessageSent) {
  const query = `id=${conversationId}&include=messages`;
  const { data } = (await call("list-conversations", { account, query })).body;
  const { delivery, deliveryError, providerId } = (data as OpenedConversation[])[0]?.messages?.[0] ?? {};
  return { delivery, deliveryError, providerId };
}

test("a message is sent, and its state is stored; the same event again sends nothing", async () => {
  const event = await aSentMessage();
  fetched.mockImplementation(async () => taken());
  for (let n = 0; n < 2; n++) await deliver(event);
  expect(fetched).toHaveBeenCalledTimes(1);
  expect(await stateOf(event)).toEqual({ delivery: "sent", providerId: "wamid.1" });
});

test.each([
  ["a refusal", { whatsapp: ["491"] }, 1, "131047: Why"],
  ["no address", { sms: ["491"] }, 0, "The lead had no address on this channel."],
])("%s is stored as a failure", async (_, addresses, calls, deliveryError) => {
  const event = await aSentMessage(addresses as never);
  fetched.mockResolvedValue(refused(131047));
  // A refused message is not sent again when its event is queued again.
  for (let n = 0; n < 2; n++) await deliver(event);
  expect([fetched.mock.calls.length, await stateOf(event)]).toEqual([
    calls,
    { delivery: "failed", deliveryError },
  ]);
});

test.each<[MessageSent["channel"], string, string]>([
  ["whatsapp", "\u{1F600}".repeat(4097), "4097 characters, but the channel accepts at most 4096"],
  ["instagram", "ü".repeat(501), "1002 bytes, but the channel accepts at most 1000"],
])("a text that is too long for %s fails and is not cut", async (channel, message, why) => {
  await connect({ account, channel: "instagram", sender: "17" });
  const event = await aSentMessage({ [channel]: ["99"] }, { channel });
  await deliver({ ...event, message });
  expect(await stateOf(event)).toMatchObject({
    delivery: "failed",
    deliveryError: expect.stringContaining(why),
  });
  expect(fetched).not.toHaveBeenCalled();
});

test("a sent message whose result could not be stored is not sent again once a webhook has reported it", async () => {
  const event = await aSentMessage();
  fetched.mockImplementation(async () => taken());
  const store = vi.spyOn(states, "updateMessage").mockRejectedValueOnce(new Error("Throttled."));
  await expect(deliver(event)).rejects.toThrow("Throttled.");
  store.mockRestore();
  await tell(event, "sent");
  await deliver(event);
  expect(fetched).toHaveBeenCalledTimes(1);
});

test("the result of a sent message is stored after a conflict with other writers, without sending the message again", async () => {
  const event = await aSentMessage();
  fetched.mockImplementation(async () => taken());
  vi.spyOn(states, "updateMessage").mockRejectedValueOnce(new TooManyAtOnceError("Others win."));
  await deliver(event);
  expect(await stateOf(event)).toEqual({ delivery: "sent", providerId: "wamid.1" });
  expect(fetched).toHaveBeenCalledTimes(1);
});

test("a message whose response was lost is not sent again after its echo, and a message from the phone is never sent", async () => {
  await connect({ account, channel: "instagram", sender: "17" });
  const event = await aSentMessage({ instagram: ["99"] }, { channel: "instagram" });
  const echo = (id: string, text: string) =>
    receiveEntry(account, {
      ...{
        kind: "message",
        channel: "instagram",
        sender: "17",
        id,
        addresses: ["99"],
        text,
        isEcho: true,
        metadata: {},
      },
    });
  fetched.mockRejectedValueOnce(new TypeError("fetch failed"));
  await expect(deliver(event)).rejects.toThrow();
  await echo("mid.1", event.message);
  await deliver(event);
  expect(await stateOf(event)).toEqual({ delivery: "sent", providerId: "mid.1" });
  await echo("mid.2", "Written on the phone");
  const query = `id=${event.conversationId}&include=messages`;
  const { data } = (await call("list-conversations", { account, query })).body;
  const [written] = (data as OpenedConversation[])[0]?.messages ?? [];
  expect(written?.message).toBe("Written on the phone");
  await deliver({ ...event, ...written } as MessageSent);
  expect(fetched).toHaveBeenCalledTimes(1);
});

test("a lead awaits a reply again if the reply is refused", async () => {
  const event = await aSentMessage();
  await aMessage(account, event.leadId, "whatsapp", { direction: "inbound" });
  const reply = await aMessage(account, event.leadId, "whatsapp");
  const waiting = async () =>
    (await call("list-conversations", { account, query: "awaitingReply=true" })).body.pagination.total;
  expect(await waiting()).toBe(0);
  fetched.mockResolvedValue(refused(131047));
  await deliver({ ...event, ...reply } as MessageSent);
  expect(await waiting()).toBe(1);
});

test("a message that was given up and then reported as sent is not sent again", async () => {
  const event = await aSentMessage();
  fetched.mockImplementation(async () => refused(131000));
  await expect(deliver(event, true)).rejects.toThrow();
  await tell(event, "sent");
  await deliver(event);
  expect([fetched.mock.calls.length, (await stateOf(event)).delivery]).toEqual([1, "sent"]);
});

test("a message that is older than the connection is not sent, but left to the event bus", async () => {
  await disconnect({ account, channel: "whatsapp", sender: "106" });
  const event = await aSentMessage();
  await connect({ account, channel: "whatsapp", sender: "106" });
  await deliver({ ...event, createdAt: new Date(Date.parse(event.createdAt) - 1000).toISOString() });
  expect(fetched).not.toHaveBeenCalled();
});

test("a sender that replaces another sends the messages that wait, and the former one is free", async () => {
  const event = await aSentMessage();
  const next = { account, channel: "whatsapp", sender: "107" } as const;
  await expect(connect(next, { sender: "105", isOwner: false })).rejects.toThrow();
  for (let n = 0; n < 2; n++) {
    await connect(next, { sender: "106", isOwner: n === 0 });
    expect(await readSenderAccount("whatsapp", "106")).toBeUndefined();
  }
  fetched.mockImplementation(async () => taken());
  await deliver(event);
  expect(String(fetched.mock.lastCall?.[0])).toContain("/107/messages");
  await disconnect(next);
});

test("a template replaces the text on WhatsApp, and fails on Instagram", async () => {
  const template = { name: "welcome", language: "en_US" };
  fetched.mockImplementation(async () => taken());
  await deliver(await aSentMessage(undefined, { template }));
  expect(String(fetched.mock.lastCall?.[1]?.body)).toContain('"template":{"name":"welcome"');
  await connect({ account, channel: "instagram", sender: "17" });
  const event = await aSentMessage({ instagram: ["99"] }, { channel: "instagram", template });
  await deliver(event);
  expect(fetched).toHaveBeenCalledTimes(1);
  const deliveryError = "Only WhatsApp has templates: send the text without one.";
  expect(await stateOf(event)).toEqual({ delivery: "failed", deliveryError });
});

test.each([
  ["too many calls", () => refused(130429), "token"],
  ["a revoked token", () => refused(190), "token"],
  ["no token", taken, undefined],
])("after %s, a message is retried, fails with the last attempt, and can be queued again", async (_, respond, token) => {
  const event = await aSentMessage();
  fetched.mockImplementation(async () => respond());
  readSecret.mockResolvedValueOnce(token).mockResolvedValueOnce(token);
  await expect(deliver(event)).rejects.toThrow();
  expect(await stateOf(event)).toEqual({});
  await expect(deliver(event, true)).rejects.toThrow();
  expect(await stateOf(event)).toEqual({
    ...{ delivery: "failed", deliveryError: expect.stringMatching(/^Given up: /) },
  });
  fetched.mockImplementation(async () => taken());
  for (let n = 0; n < 2; n++) await deliver(event);
  expect(await stateOf(event)).toEqual({ delivery: "sent", providerId: "wamid.1" });
});

test("no message is sent to an erased lead, or by an account that has not connected the channel", async () => {
  const event = await aSentMessage();
  for (const item of [...memory.items()]) if (item.id === event.id) memory.delete(item);
  await deliver(event);
  await disconnect({ account, channel: "whatsapp", sender: "106" });
  await deliver(await aSentMessage({ whatsapp: ["492"] }));
  expect(fetched).not.toHaveBeenCalled();
});

test("a sender belongs to one account, and an account has one sender for each channel", async () => {
  const own = { account, channel: "whatsapp", sender: "106" } as const;
  const other = { ...own, account: randomUUID() };
  for (const wrong of [other, { ...own, sender: "107" }]) await expect(connect(wrong)).rejects.toThrow();
  await connect(own);
  expect([await readSenderAccount("whatsapp", "106"), await readSenderAccount("whatsapp", "107")]).toEqual([
    ...[account, undefined],
  ]);
  await disconnect(own);
  await connect(other);
  expect(await readSenderAccount("whatsapp", "106")).toBe(other.account);
});
