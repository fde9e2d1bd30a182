import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { afterAll, expect, test, vi } from "vitest";
import { createClient, type LeadsQuery, type Message } from "../../docs/client/client.ts";
import {
  type Delivered,
  type DeliveryResult,
  deliverMessage,
  readInbox,
  receiveMessage,
  reportDelivery,
} from "../../docs/client/recipes.ts";
import { leadsCommand } from "../../lib/ops/leads/leads-command.ts";
import { startApi } from "../support/api.ts";
import { runCommand } from "../support/command.ts";
import { startFakeMeta } from "../support/fake-meta.ts";
import { leadFile } from "../support/lead-files.ts";
import { listening } from "../support/listening.ts";
import { createDataDirectory } from "../support/ops.ts";
import { noteSent } from "../support/sent.ts";
import { skipWaits } from "../support/skipped-waits.ts";

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
const meta = await startFakeMeta();
meta.webhook = address;
/** A person writes on WhatsApp, and the webhook comes a number of times. */
const write = (from: string, name: string, text: string, times?: number) =>
  meta.write([{ channel: "whatsapp", sender: "1", from, name, text }], times);
const api = await startApi({ streams: true, maxEnvironments: 2, eventsUrl: address });
const account = randomUUID();
const { apiKey } = await api.issueKey(account);
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

const deliver: Parameters<typeof deliverMessage>[4] = async ({ id, conversationId, to, message }) => {
  const text = {
    ...{ messaging_product: "whatsapp", to: to.replaceAll(/\D/g, "") },
    ...{ type: "text", text: { body: message } },
  };
  const body = { ...text, biz_opaque_callback_data: JSON.stringify({ id, conversationId }) };
  const response = await fetch(`${meta.url}/1/messages`, { method: "POST", body: JSON.stringify(body) });
  const { error, messages }: Received = await response.json();
  return error
    ? { delivery: "failed", deliveryError: textOf(error) }
    : { delivery: "sent", providerId: messages[0].id };
};

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
  await write("491510000001", "Ada", "Hi, is it still free?", 3);
  const {
    rows: [row],
  } = await readInbox(client, {});
  expect(row).toMatchObject({
    messageCount: 1,
    lead: { name: "Ada", addresses: { whatsapp: ["491510000001"] } },
  });
  // The local bus posts an event after those of earlier messages.
  const message = await send(row?.leadId, "Yes, it is.");
  await expect.poll(() => read(message)).toMatchObject({ delivery: "sent" });
  expect(meta.taken.map(({ text }) => text)).toEqual(["Yes, it is."]);
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
])("a message that the provider refuses to %s shows as failed, with its code and text", async (whatsapp, text) => {
  const { id } = await client.createLead({ name: "Edsger", addresses: { whatsapp: [whatsapp] } });
  const message = await send(id, "Hello");
  await expect.poll(() => read(message)).toMatchObject({ delivery: "failed" });
  expect((await read(message)).deliveryError).toMatch(text);
});

test("an inbox shows who waits longest in two requests; a reply ends the waiting, and so does closing", async () => {
  const [barbara, donald] = ["491510000005", "491510000006"] as const;
  await write(barbara, "Barbara", "Is it free?");
  await write(donald, "Donald", "How much is it?");
  await write(barbara, "Barbara", "Hello?");
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

test("an imported lead who writes on two channels stays one lead; once it is erased, nothing finds or returns it", async () => {
  using _ = skipWaits();
  vi.stubEnv("DATA_DIR", await createDataDirectory(api.tableName));
  const run = async (...args: string[]) => {
    const { failure } = await runCommand(leadsCommand(), ...args, "--account", account, "--local");
    expect(failure).toBeUndefined();
  };
  const file = await leadFile(
    "Record ID,First Name,Last Name,Email,Phone Number\nhubspot:4711,Grace,Hopper,grace@example.com,+49 (151) 0000-007",
  );
  const columns = [
    "Record ID=externalId",
    "First Name=name",
    "Last Name=name",
    "Phone Number=addresses.whatsapp",
  ];
  await run("import", file, ...columns.flatMap((column) => ["--map", column]));

  await write("491510000007", "Gracie", "Hello");
  const { leadId } = (await readInbox(client, {})).rows[0] ?? {};
  const update = { id: leadId ?? "", addresses: { instagram: ["17841400000000007"] }, score: 60 };
  const idempotencyKey = randomUUID();
  const { lead } = await client.updateLead(update, { idempotencyKey });
  const { name, externalId, addresses } = lead;
  expect({ name, externalId, addresses }).toEqual({
    ...{ name: "Grace Hopper", externalId: "hubspot:4711" },
    addresses: { whatsapp: ["+49 (151) 0000-007"], instagram: ["17841400000000007"] },
  });
  const direct = { channel: "instagram", from: "17841400000000007", name: "gracie", text: "It is me again" };
  await receiveMessage(client, { id: "mid.1", ...direct });
  const inbox = async () =>
    (await readInbox(client, {})).rows
      .filter((row) => row.leadId === lead.id)
      .map((row) => [row.channel, row.lead?.name, row.lastMessage.text]);
  await expect.poll(inbox).toEqual([
    ["instagram", "Grace Hopper", "It is me again"],
    ["whatsapp", "Grace Hopper", "Hello"],
  ]);

  const isFound = async (query: LeadsQuery) =>
    (await client.listLeads({ ...query, limit: 100 })).data.some(({ id }) => id === lead.id);
  const queries: readonly LeadsQuery[] = [
    ...[{ address: ["whatsapp:491510000007"] }, { address: ["instagram:17841400000000007"] }],
    ...[{ externalId: ["hubspot:4711"] }, { id: [lead.id] }, { email: "grace@example.com" }],
    ...[{}, { sort: "updatedAt" } as const],
  ];
  const found = () => Promise.all(queries.map(isFound));
  await expect.poll(found).toEqual(queries.map(() => true));
  // Without the scan, the record of the update stays.
  await run("erase", "--address", "whatsapp:+491510000007", "--yes", "--no-scan");
  await expect.poll(found).toEqual(queries.map(() => false));
  await expect.poll(inbox).toEqual([]);
  const replay = client.updateLead(update, { idempotencyKey });
  await expect(replay).rejects.toMatchObject({ status: 404, code: "lead_not_found" });
});
