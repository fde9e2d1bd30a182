import { randomUUID } from "node:crypto";
import { ChangeMessageVisibilityCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { SQSEvent } from "aws-lambda";
import { beforeEach, expect, test, vi } from "vitest";
import { connect, disconnect, readSenderAccount } from "../../../shared/channels/connections.ts";
import type { MessageSent } from "../../../shared/channels/graph-api.ts";
import { receiveEntry } from "../../../shared/channels/receive-entry.ts";
import * as secrets from "../../../shared/channels/secrets.ts";
import * as states from "../../../shared/domain/conversations/update-message.ts";
import { TooManyAtOnceError } from "../../../shared/dynamodb/dynamodb-errors.ts";
import { accountKey } from "../../../shared/dynamodb/keys.ts";
import type { NewMessage } from "../../../shared/schemas/conversation-schemas.ts";
import { aLead, aMessage, messagesOf } from "../../support/requests/requests.ts";
import { mockClient } from "../../support/tables/mocked-client.ts";
import { useTable } from "../../support/tables/watched-table.ts";

vi.stubEnv("MAX_ATTEMPTS", "32");
const { handler } = await import("../../../functions/deliver-message.ts");

const queue = mockClient(SQSClient);
let readSecret = vi.spyOn(secrets, "readSecret");
let log = vi.spyOn(console, "error");
const fetched = vi.fn<typeof fetch>();
let account: string;
const { memory } = useTable();
beforeEach(async () => {
  vi.stubGlobal("fetch", fetched);
  fetched.mockReset().mockImplementation(async () => taken());
  readSecret = vi.spyOn(secrets, "readSecret").mockResolvedValue("token");
  log = vi.spyOn(console, "error").mockReturnValue();
  account = randomUUID();
  await connect({ account, channel: "whatsapp", sender: "106" });
  await connect({ account, channel: "instagram", sender: "17" });
});

const respond = (body: unknown, status = 200) =>
  new Response(typeof body === "string" ? body : JSON.stringify(body), { status });
const taken = () => respond({ messages: [{ id: "wamid.1" }] });
const refused = (code: number) => respond({ error: { code, message: "Why" } }, 400);

async function aSentMessage(
  addresses: Record<string, string[]> = { whatsapp: ["491"] },
  input: Partial<NewMessage> = {},
) {
  const { id } = await aLead(account, { addresses });
  const message = await aMessage(account, id, "whatsapp", input);
  const to = addresses[message.channel]?.[0];
  return { ...message, type: "message.sent", version: 1, account, to } as MessageSent;
}

const onInstagram = (input: Partial<NewMessage> = {}) =>
  aSentMessage({ instagram: ["99"] }, { channel: "instagram", ...input });

/** Passes a message of the queue on. @returns the pause before its next attempt, in seconds; undefined if it has left the queue */
async function deliver(event: MessageSent, attempts = 1): Promise<number | undefined> {
  queue.reset();
  const record = { messageId: "1", receiptHandle: "handle", body: JSON.stringify(event) };
  const attributes = { ApproximateReceiveCount: `${attempts}` };
  const { batchItemFailures } = await handler({ Records: [{ ...record, attributes }] } as SQSEvent);
  const hidden = queue.commandCalls(ChangeMessageVisibilityCommand, { ReceiptHandle: "handle" });
  const pauses = hidden.map(({ args: [{ input }] }) => input.VisibilityTimeout);
  expect(batchItemFailures).toEqual(pauses.map(() => ({ itemIdentifier: "1" })));
  return pauses[0];
}

const newestOf = async ({ conversationId }: MessageSent) => (await messagesOf(account, conversationId))[0];

async function stateOf(event: MessageSent) {
  const { delivery, deliveryError, providerId } = (await newestOf(event)) ?? {};
  return { delivery, deliveryError, providerId };
}

const common = { messaging_product: "whatsapp", recipient_type: "individual", to: "491771" };
const text = { type: "text", text: { body: "Hello" } };
const template = { name: "welcome", language: "en_US", parameters: ["Ada"] };
const components = [{ type: "body", parameters: [{ type: "text", text: "Ada" }] }];

test.each<[string, Partial<MessageSent>, object]>([
  ["to a telephone number", { to: "+49 (177) 1" }, { ...common, ...text }],
  ["to a telephone number with 00 in place of +", { to: "0049 1771" }, { ...common, ...text }],
  ["to the id of a user", { to: "DE.1" }, { ...common, to: undefined, recipient: "DE.1", ...text }],
  [
    "as a template with the values of its placeholders",
    { to: "491771", template },
    {
      ...{ ...common, type: "template" },
      template: { name: "welcome", language: { code: "en_US" }, components },
    },
  ],
])("a message is sent %s, and its state is stored; the same event again sends nothing", async (_, more, body) => {
  const event = { ...(await aSentMessage()), ...more };
  for (let n = 0; n < 2; n++) expect(await deliver(event)).toBeUndefined();
  expect(await stateOf(event)).toEqual({ delivery: "sent", providerId: "wamid.1" });
  expect(fetched).toHaveBeenCalledTimes(1);
  const [url, { headers, ...init } = {}] = fetched.mock.lastCall ?? [];
  const sender = [expect.stringContaining("/106/messages"), { authorization: "Bearer token" }];
  expect([url, headers, init.method]).toMatchObject([...sender, "POST"]);
  const callbackData = `${event.conversationId} ${event.id}`;
  expect(JSON.parse(String(init.body))).toEqual({ ...body, biz_opaque_callback_data: callbackData });
});

test("a message is sent on Instagram by the account that the token identifies", async () => {
  const event = await onInstagram();
  fetched.mockResolvedValue(respond({ message_id: "mid.1" }));
  await deliver(event);
  expect(await stateOf(event)).toEqual({ delivery: "sent", providerId: "mid.1" });
  const [url, init] = fetched.mock.lastCall ?? [];
  expect(url).toContain("/me/messages");
  expect(JSON.parse(String(init?.body))).toEqual({ recipient: { id: "99" }, message: { text: "Hello" } });
});

test.each([
  "cut",
  { messages: [{ id: "1 2" }] },
])("an accepted message is sent, whatever else the response contains: %j", async (body) => {
  const event = await aSentMessage();
  fetched.mockResolvedValue(respond(body));
  await deliver(event);
  expect(await stateOf(event)).toEqual({ delivery: "sent" });
});

test.each<[number, number, string]>([
  [400, 131047, "131047: Why"],
  [400, 131026, "131026: Why"],
  [400, 100, "100: Why"],
  [403, 10, "10: Why"],
])("a refusal with status %i and code %i is final, even if the event is queued again", async (status, code, deliveryError) => {
  const event = await aSentMessage();
  const error = { code, error_subcode: 2534022, message: "(#1) Short", error_data: { details: "Why" } };
  fetched.mockImplementation(async () => respond({ error }, status));
  for (let n = 0; n < 2; n++) expect(await deliver(event)).toBeUndefined();
  expect(await stateOf(event)).toEqual({ delivery: "failed", deliveryError });
  expect(fetched).toHaveBeenCalledTimes(1);
});

test.each<[string, () => Promise<MessageSent>, object, string]>([
  [
    "without an address",
    () => aSentMessage({ sms: ["491"] }),
    {},
    "The lead had no address on this channel.",
  ],
  [
    "that is too long for Instagram",
    () => onInstagram(),
    { message: "ü".repeat(501) },
    "The text has 1002 bytes, but Instagram accepts at most 1000.",
  ],
  [
    "with a template on Instagram",
    () => onInstagram({ template }),
    {},
    "Only WhatsApp has templates: send the text without one.",
  ],
])("a message %s fails and is not sent", async (_, send, more, deliveryError) => {
  const event = await send();
  await deliver({ ...event, ...more });
  expect(await stateOf(event)).toEqual({ delivery: "failed", deliveryError });
  expect(fetched).not.toHaveBeenCalled();
});

test.each<[attempts: number, status: number, body: unknown, seconds: number, event: string, reason: string]>([
  [1, 400, { error: { code: 130429, message: "Why" } }, 2, "delivery failed", "130429: Why"],
  [5, 400, { error: { code: 131056 } }, 32, "delivery failed", "131056"],
  [31, 429, {}, 900, "delivery failed", "HTTP 429"],
  [1, 500, { error: { code: 131000 } }, 60, "delivery failed", "131000"],
  [1, 503, "<html>", 60, "delivery failed", "HTTP 503"],
  [7, 503, {}, 128, "delivery failed", "HTTP 503"],
  [1, 0, {}, 60, "delivery failed", "The Graph API has not responded."],
  [1, 401, {}, 2, "sender refused", "HTTP 401"],
  // Meta has quoted tokens in its errors.
  [1, 400, { error: { code: 190, message: "Not token token!" } }, 2, "sender refused", "190: Not … …!"],
  [1, 403, { error: { code: 200 } }, 2, "sender refused", "200"],
  [1, 400, { error: { code: 131031 } }, 2, "sender refused", "131031"],
  [1, 400, { error: { code: 100, error_subcode: 33 } }, 2, "sender refused", "100"],
])("after attempt %i, with status %i and %j, the next attempt follows in %i seconds, and one line is logged without the text", async (attempts, status, body, seconds, event, reason) => {
  const message = await aSentMessage();
  fetched.mockImplementation(async () => {
    if (status === 0) throw new TypeError("fetch failed");
    return respond(body, status);
  });
  expect(await deliver(message, attempts)).toBe(seconds);
  const { id, channel } = message;
  expect(log.mock.calls).toEqual([[{ event, account, channel, id, reason }]]);
});

test("a sent message whose result could not be stored is not sent again once a webhook has reported it", async () => {
  const event = await aSentMessage();
  const store = vi.spyOn(states, "updateMessage").mockRejectedValueOnce(new TypeError("Hello, throttled."));
  expect(await deliver(event)).toBe(60);
  expect(log.mock.calls).toMatchObject([[{ event: "delivery failed", id: event.id, name: "TypeError" }]]);
  expect(JSON.stringify(log.mock.calls)).not.toContain("Hello");
  store.mockRestore();
  const state = { kind: "state", channel: "whatsapp", delivery: "sent", providerId: "wamid.1" } as const;
  const callbackData = `${event.conversationId} ${event.id}`;
  await receiveEntry(account, { ...state, sender: "106", lead: "491", callbackData });
  expect(await deliver(event)).toBeUndefined();
  expect(fetched).toHaveBeenCalledTimes(1);
});

test("the result of a sent message is stored after a conflict with other writers, without sending the message again", async () => {
  const event = await aSentMessage();
  vi.spyOn(states, "updateMessage").mockRejectedValueOnce(new TooManyAtOnceError("Others win."));
  await deliver(event);
  expect(await stateOf(event)).toEqual({ delivery: "sent", providerId: "wamid.1" });
  expect(fetched).toHaveBeenCalledTimes(1);
});

test("a message whose response was lost is not sent again after its echo, and a message from the phone is never sent", async () => {
  const event = await onInstagram();
  const ofPerson = { kind: "message", channel: "instagram", sender: "17", addresses: ["99"] } as const;
  const echo = (id: string, text: string) =>
    receiveEntry(account, { ...ofPerson, id, text, isEcho: true, metadata: {} });
  fetched.mockRejectedValueOnce(new TypeError("fetch failed"));
  expect(await deliver(event)).toBe(60);
  await echo("mid.1", event.message);
  await deliver(event);
  expect(await stateOf(event)).toEqual({ delivery: "sent", providerId: "mid.1" });
  await echo("mid.2", "Written on the phone");
  const written = await newestOf(event);
  expect(written?.message).toBe("Written on the phone");
  await deliver({ ...event, ...written } as MessageSent);
  expect(fetched).toHaveBeenCalledTimes(1);
});

test.each([
  ["too many calls", () => refused(130429), "token"],
  ["a revoked token", () => refused(190), "token"],
  ["no token", taken, undefined],
])("after %s, a message is retried, fails with the last attempt, and can be queued again", async (_, response, token) => {
  const event = await aSentMessage();
  fetched.mockImplementation(async () => response());
  readSecret.mockResolvedValueOnce(token).mockResolvedValueOnce(token);
  expect(await deliver(event)).toBe(2);
  expect(await stateOf(event)).toEqual({});
  expect(await deliver(event, 32)).toBe(0);
  const deliveryError = expect.stringMatching(/^Given up: /);
  expect(await stateOf(event)).toEqual({ delivery: "failed", deliveryError });
  fetched.mockImplementation(async () => taken());
  for (let n = 0; n < 2; n++) expect(await deliver(event)).toBeUndefined();
  expect(await stateOf(event)).toEqual({ delivery: "sent", providerId: "wamid.1" });
});

test.each([
  1, 32,
])("a message of a frozen account waits for 15 minutes, and is not logged as a failure, at attempt %i", async (attempts) => {
  const event = await aSentMessage();
  memory.put({ ...accountKey(account), frozenAt: "2026-01-01T00:00:00.000Z" });
  expect(await deliver(event, attempts)).toBe(900);
  expect([fetched.mock.calls, log.mock.calls]).toEqual([[], []]);
});

test("no message is sent to an erased lead, without a connection, or from before the connection", async () => {
  const own = { account, channel: "whatsapp", sender: "106" } as const;
  const [erased, event] = [await aSentMessage(), await aSentMessage({ whatsapp: ["492"] })];
  for (const item of [...memory.items()]) if (item.id === erased.id) memory.delete(item);
  await deliver(erased);
  await disconnect(own);
  await deliver(event);
  await connect(own);
  await deliver({ ...event, createdAt: new Date(Date.parse(event.createdAt) - 1000).toISOString() });
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
