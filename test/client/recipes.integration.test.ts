import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, expect, test } from "vitest";
import { createClient, parseEvent } from "../../docs/client/client.ts";
import { createMirror } from "../../docs/client/recipes.ts";
import { setLeadStatus } from "../../lib/ops/leads/lead-changes.ts";
import { startApi } from "../support/api.ts";
import { listening } from "../support/listening.ts";
import { createDataDirectory, ops } from "../support/ops.ts";
import { noteSent } from "../support/sent.ts";
import { createCopy } from "./memory-copy.ts";

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
const client = createClient({ url: api.url, key: apiKey });
const mirror = createMirror(client, copy);

/** Every row of the API, as the copy must have it. */
async function source() {
  const all = createCopy();
  for await (const { data } of client.leadPages()) await all.copy.leads.put(data);
  for await (const { data } of client.conversationPages()) await all.copy.conversations.put(data);
  return { leads: all.leads, conversations: all.conversations };
}

async function createLead(name: string) {
  const { id: leadId } = await client.createLead({ name });
  await client.sendMessage({ leadId, channel: "whatsapp", message: `Hello ${name}` });
  return leadId;
}

test("a copy follows the events, and a reconciliation finds what it has not received", async () => {
  receive = async (received) => {
    const event = parseEvent(received);
    if (event) await mirror.applyEvents([event]);
  };
  const ids = [await createLead("Ada"), await createLead("Grace"), await createLead("Edsger")] as const;
  await expect.poll(() => ({ leads, conversations })).toEqual(await source());
  expect(leads.size).toBe(3);

  receive = async () => {};
  expect(await setLeadStatus(account, ids[0], "booked", Date.now() + 60_000)).toBeDefined();
  const dataDirectory = await createDataDirectory(api.tableName);
  const erase = ["leads", "erase", "--account", account, "--lead", ids[1], "--yes", "--no-scan", "--local"];
  const { code, stderr } = await ops(erase, { dataDirectory });
  expect(code, stderr).toBe(0);
  await createLead("Barbara");
  await mirror.reconcile();
  expect({ leads, conversations }).toEqual(await source());
  expect(leads.get(ids[0])?.status).toBe("booked");
  expect(leads.has(ids[1])).toBe(false);
  expect(leads.size).toBe(3);
});
