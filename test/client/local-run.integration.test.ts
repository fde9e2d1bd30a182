import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, expect, test, vi } from "vitest";
import { createClient, parseEvent } from "../../docs/client/client.ts";
import * as recipes from "../../docs/client/recipes.ts";
import { leadsCommand } from "../../lib/ops/leads/leads-command.ts";
import type { Access } from "../../shared/domain/api-keys.ts";
import { seeded } from "../support/cases/random.ts";
import { skipWaits } from "../support/cases/skipped-waits.ts";
import { runCommand } from "../support/commands/command.ts";
import { createDataDirectory } from "../support/commands/data-directory.ts";
import { startApi } from "../support/requests/api.ts";
import { listening } from "../support/requests/listening.ts";
import { noteSent } from "../support/requests/sent.ts";
import { createCopy } from "./copy.ts";

const account = randomUUID();
const { copy, leads, conversations } = createCopy();

/** What the receiver does with an event. */
let receive = async (_received: string) => {};

const receiver = createServer(async (request, response) => {
  await receive(await text(request));
  response.writeHead(204).end();
});
afterAll(() => void receiver.close());

const api = await startApi({ streams: true, maxEnvironments: 2, eventsUrl: await listening(receiver) });
const { apiKey } = await api.issueKey(account);
noteSent(apiKey);
const client = createClient({ url: api.url, key: apiKey, ...hostile() });
const mirror = recipes.createMirror(client, copy);

/** A network that refuses a fifth of the requests, and loses two fifths of the responses. Waits take no time. */
function hostile() {
  const random = seeded(33);
  let now = 0;
  return {
    fetch: async (...sent: Parameters<typeof fetch>) => {
      const share = random();
      if (share < 0.2) return new Response("<html>", { status: 502 });
      const response = await fetch(...sent);
      if (share > 0.6) return response;
      await response.text();
      throw new TypeError("fetch failed");
    },
    now: () => now,
    wait: async (milliseconds: number) => {
      now += milliseconds;
    },
  };
}

/** Every row of the API, as the copy must have it. */
async function source() {
  const all = createCopy();
  for await (const { data } of client.leadPages()) await all.copy.leads.put(data);
  for await (const { data } of client.conversationPages()) await all.copy.conversations.put(data);
  return { leads: all.leads, conversations: all.conversations };
}

async function createLead(name: string) {
  const leadId = await recipes.findOrCreateLead(client, { name, externalId: name });
  await client.sendMessage({ leadId, channel: "whatsapp", message: `Hello ${name}` });
  return leadId;
}

test("forms create each lead once, and each lead is greeted once", async () => {
  const owner = randomUUID();
  const clientOf = async (access: Access) =>
    createClient({ url: api.url, key: (await api.issueKey(owner, { access })).apiKey, ...hostile() });
  const [own, creating] = [await clientOf("full"), await clientOf("create")];
  const addressOf = (n: number) => ({ email: [`ada+${n}@example.com`] });
  const ids: string[] = [];
  for (let n = 0; n < 16; n++)
    ids.push(
      await recipes.findOrCreateLead(creating, { name: "Ada", addresses: addressOf(n % 8), source: "form" }),
    );
  expect(ids.slice(8)).toEqual(ids.slice(0, 8));
  expect(new Set(ids).size).toBe(8);
  for (const refused of [() => creating.listLeads(), () => creating.updateLead({ id: ids[0] ?? "" })])
    await expect(refused()).rejects.toMatchObject({ status: 403, code: "insufficient_access" });
  const greeted = async () => (await own.listConversations()).data.map(({ leadId }) => leadId).sort();
  await expect.poll(async () => (await own.listLeads({ source: "form" })).pagination.total).toBe(8);
  for (let run = 0; run < 2; run++)
    await recipes.greetLeads(own, "form", { name: "welcome", language: "en_US" });
  expect(await greeted()).toEqual(ids.slice(0, 8).sort());
  const { rows: inbox } = await recipes.readInbox(own, {});
  expect(inbox.map(({ lead, messageCount }) => [lead?.source, messageCount])).toEqual(
    Array(8).fill(["form", 1]),
  );
});

test("an answer is stored once, for the lead with its address, however often its webhook arrives; an inbox takes two requests", async () => {
  const { apiKey: key } = await api.issueKey(randomUUID());
  const requests = vi.fn(fetch);
  const own = createClient({ url: api.url, key, fetch: requests });
  await own.createLead({ name: "Grace Hopper", addresses: { whatsapp: ["+49 (151) 0000-007"] } });
  const receive = (id: string, from: string, name: string, text: string) =>
    recipes.receiveMessage(own, { id, channel: "whatsapp", from, name, text });
  for (let n = 0; n < 3; n++) await receive("wamid.1", "491510000005", "Barbara", "Is it free?");
  await receive("wamid.2", "491510000007", "Gracie", "How much is it?");
  await receive("wamid.3", "491510000005", "Barbara", "Hello?");
  const waiting = async () =>
    (await recipes.readInbox(own, { awaitingReply: "true" })).rows.map(
      ({ lead, lastMessage, messageCount }) => `${lead?.name}: ${lastMessage.text} (${messageCount})`,
    );
  await expect.poll(waiting).toEqual(["Barbara: Hello? (2)", "Grace Hopper: How much is it? (1)"]);
  requests.mockClear();
  const {
    rows: [first, second],
    total,
  } = await recipes.readInbox(own, { limit: 100 });
  expect([requests.mock.calls.length, total]).toEqual([2, 2]);
  await own.sendMessage({ leadId: first?.leadId ?? "", channel: "whatsapp", message: "Yes, it is." });
  await expect.poll(waiting).toEqual(["Grace Hopper: How much is it? (1)"]);
  await own.updateConversation({ id: second?.id ?? "", status: "closed" });
  await expect.poll(waiting).toEqual([]);
});

test("a copy follows the events, and a reconciliation finds the changes that it has not received", async () => {
  receive = async (received) => {
    const event = parseEvent(received);
    if (event) await mirror.applyEvents([event]);
  };
  const ids = [await createLead("Ada"), await createLead("Grace"), await createLead("Edsger")] as const;
  expect(await recipes.findOrCreateLead(client, { name: "Ada again", externalId: "Ada" })).toBe(ids[0]);
  const { lead, created } = await client.updateLead({ externalId: "Ada", status: "qualified" });
  expect([lead.id, lead.status, created]).toEqual([ids[0], "qualified", false]);
  expect(await client.findLeadsByExternalId(["Ada", "Eve"])).toEqual(new Map([["Ada", lead]]));
  await expect.poll(() => ({ leads, conversations })).toEqual(await source());
  expect(leads.size).toBe(3);
  const beginning = { newest: "1970-01-01T00:00:00.000Z", seen: [] };
  for (const [sync, rows] of [
    [recipes.syncLeads, leads],
    [recipes.syncConversations, conversations],
  ] as const) {
    const look = async () => {
      const seen: string[] = [];
      await sync(client, beginning, async (some) => void seen.push(...some.map(({ id }) => id)));
      return seen.sort();
    };
    await expect.poll(look).toEqual([...rows.keys()].sort());
  }

  receive = async () => {};
  await client.updateLead({ id: ids[0], status: "booked" });
  using _ = skipWaits();
  vi.stubEnv("DATA_DIR", await createDataDirectory(api.tableName));
  const erase = ["erase", "--account", account, "--lead", ids[1], "--yes", "--local"];
  expect((await runCommand(leadsCommand(), ...erase)).failure).toBeUndefined();
  await createLead("Barbara");
  await mirror.reconcile();
  expect({ leads, conversations }).toEqual(await source());
  expect(leads.get(ids[0])?.status).toBe("booked");
  expect(leads.has(ids[1])).toBe(false);
  expect(leads.size).toBe(3);
});
