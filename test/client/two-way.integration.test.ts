import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { afterAll, expect, test, vi } from "vitest";
import { type ApiEvent, createClient, type Message } from "../../docs/client/client.ts";
import {
  type Delivered,
  type DeliveryResult,
  deliverMessage,
  readInbox,
  receiveMessage,
  reportDelivery,
} from "../../docs/client/recipes.ts";
import { startApi } from "../support/api.ts";
import { startFakeMeta } from "../support/fake-meta.ts";
import { listening } from "../support/listening.ts";
import { noteSent } from "../support/sent.ts";

// biome-ignore lint/suspicious/noExplicitAny: what a connector receives and does not check
type Received = any;

const connector = createServer(async (request, response) => {
  const body: Received = await json(request);
  const receiving = body.detail ? deliverMessage(client, body, "whatsapp", memory, deliver) : receive(body);
  const [{ status }] = await Promise.allSettled([receiving]);
  response.writeHead(status === "fulfilled" ? 200 : 500).end();
});
afterAll(() => void connector.close());

const address = await listening(connector);
const meta = await startFakeMeta(address);
const api = await startApi({ streams: true, maxEnvironments: 2, eventsUrl: address });
const { apiKey } = await api.issueKey(randomUUID());
noteSent(apiKey);
const requests = vi.fn(fetch);
const client = createClient({ url: api.url, key: apiKey, fetch: requests });

const answers = new Map<string, DeliveryResult>();

/** Where the connector remembers what it has delivered: the bus posts one event at a time. */
const memory: Delivered = {
  claim: async (id) => answers.get(id) ?? "claimed",
  add: async (id, answer) => void answers.set(id, answer),
  release: async () => {},
};

const textOf = ({ code, error_data }: Received) => `${code}: ${error_data.details}`;

async function deliver(event: Extract<ApiEvent, { type: "message.sent" }>): Promise<DeliveryResult> {
  const { id, conversationId, leadId, message } = event;
  const to = (await client.findLeads([leadId])).get(leadId)?.externalId;
  const text = { messaging_product: "whatsapp", to, type: "text", text: { body: message } };
  const body = { ...text, biz_opaque_callback_data: JSON.stringify({ id, conversationId }) };
  const response = await fetch(meta.url, { method: "POST", body: JSON.stringify(body) });
  const { error, messages }: Received = await response.json();
  return error
    ? { delivery: "failed", deliveryError: textOf(error) }
    : { delivery: "sent", providerId: messages[0].id };
}

async function receive({ entry: [{ changes }] }: Received) {
  const { contacts, messages = [], statuses = [] } = changes[0].value;
  for (const { id, status, biz_opaque_callback_data, errors } of statuses) {
    const error = errors && { deliveryError: textOf(errors[0]) };
    const message = JSON.parse(biz_opaque_callback_data);
    await reportDelivery(client, { ...message, delivery: status, providerId: id, ...error });
  }
  for (const { id, from, text } of messages) {
    const { name } = contacts[0].profile;
    await receiveMessage(client, { id, channel: "whatsapp", from, name, text: text.body });
  }
}

const send = (leadId = "", message: string) => client.sendMessage({ leadId, channel: "whatsapp", message });

/** A message with what is known of it. */
async function read({ id, conversationId }: Message) {
  for await (const message of client.messages(conversationId)) if (message.id === id) return message;
  return expect.fail("There is no such message.");
}

test("an answer is one message, however often its webhook comes, and is not sent back; a reply shows how far it has got", async () => {
  await meta.write("491510000001", "Ada", "Hi, is it still free?", 3);
  const {
    rows: [row],
  } = await readInbox(client, {});
  expect(row).toMatchObject({ messageCount: 1, lead: { name: "Ada", externalId: "491510000001" } });
  // The local bus posts an event after those of earlier messages.
  const message = await send(row?.leadId, "Yes, it is.");
  await expect.poll(() => read(message)).toMatchObject({ delivery: "sent" });
  expect(meta.taken.map(({ text }) => text.body)).toEqual(["Yes, it is."]);
  const [taken] = meta.taken;
  if (!taken) return expect.fail("The message was not sent.");
  const states: unknown[] = [];
  for (const state of ["delivered", "sent", "read", "delivered"]) {
    await meta.report(taken, state);
    states.push((await read(message)).delivery);
  }
  expect(states).toEqual(["delivered", "delivered", "read", "read"]);
  expect(await read(message)).toMatchObject({ providerId: taken.id });
});

test.each([
  ["491510000003", /^131047: .*more than 24 hours/],
  ["no-number", /^100: /],
])("a message that the provider refuses to %s shows as failed, with its code and text", async (externalId, text) => {
  const message = await send((await client.createLead({ name: "Edsger", externalId })).id, "Hello");
  await expect.poll(() => read(message)).toMatchObject({ delivery: "failed" });
  expect((await read(message)).deliveryError).toMatch(text);
});

test("an inbox shows who waits longest in two requests; a reply ends the waiting, and so does closing", async () => {
  const [barbara, donald] = ["491510000005", "491510000006"] as const;
  await meta.write(barbara, "Barbara", "Is it free?");
  await meta.write(donald, "Donald", "How much is it?");
  await meta.write(barbara, "Barbara", "Hello?");
  const waiting = async () =>
    (await readInbox(client, { awaitingReply: "true" })).rows.map(
      (row) => `${row.lead?.name}: ${row.lastMessage.text}`,
    );
  await expect.poll(waiting).toEqual(["Barbara: Hello?", "Donald: How much is it?"]);
  requests.mockClear();
  const {
    rows: [first, second],
    total,
  } = await readInbox(client, { limit: 100 });
  expect(requests).toHaveBeenCalledTimes(2);
  expect([first?.lead?.name, second?.lead?.name, total >= 2]).toEqual(["Barbara", "Donald", true]);
  await send(first?.leadId, "Yes, it is.");
  await expect.poll(waiting).toEqual(["Donald: How much is it?"]);
  await client.updateConversation({ id: second?.id ?? "", status: "closed" });
  await expect.poll(waiting).toEqual([]);
});
