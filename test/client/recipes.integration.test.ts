import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, expect, test } from "vitest";
import { createClient, type Lead, parseEvent } from "../../docs/client/client.ts";
import { createMirror, findOrCreateLead, syncLeads } from "../../docs/client/recipes.ts";
import { setLeadStatus } from "../../lib/ops/leads/lead-changes.ts";
import { leadItem } from "../../shared/domain/leads.ts";
import { createdAt, newId } from "../../shared/ids.ts";
import { startApi } from "../support/api.ts";
import { listening } from "../support/listening.ts";
import { createDataDirectory, ops } from "../support/ops.ts";
import { noteSent } from "../support/sent.ts";
import { put } from "../support/table-items.ts";
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

test("forms with an address that are sent at once create one lead, and later ones find it", async () => {
  const submit = (email: string, name: string) => findOrCreateLead(client, { name, email });
  const address = "form@example.com";
  const forms = await Promise.all(["Ada", "Ada", "Eve"].map((name) => submit(address, name)));
  const later = await submit("Form@Example.com", "Eve");
  expect(new Set([...forms, later].map(({ id }) => id)).size).toBe(1);
  expect((await client.listLeads({ email: address })).data).toHaveLength(1);
});

test("a synchronization receives what was created before and is stored after the last one", async () => {
  const received = new Set<string>();
  const store = async (leads: readonly Lead[]) => {
    for (const { id } of leads) received.add(id);
  };
  const start = Date.now();
  const since = new Date(start - 60_000).toISOString();
  const next = await syncLeads(client, since, store);
  expect(next > since).toBe(true);
  received.clear();
  const late = newId("lead", start - 5000);
  const times = { id: late, createdAt: createdAt(late) };
  await put(leadItem(account, { name: "Ada", score: 0, status: "new", tags: [], ...times }));
  const { id } = await client.createLead({ name: "Ada" });
  await syncLeads(client, next, store);
  expect([...received]).toEqual(expect.arrayContaining([late, id]));
});
