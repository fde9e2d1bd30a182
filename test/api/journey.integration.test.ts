import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { RouteName } from "../../shared/routes.ts";
import { request, startApi } from "../support/api.ts";

const api = await startApi({ maxEnvironments: 10 });

const newAccount = async () => (await api.issueKey(randomUUID())).apiKey;

test("creates a lead, lists it, sends it a message and lists the conversation", async () => {
  const apiKey = await newAccount();
  const lead = await request(api, "create-lead", {
    apiKey,
    body: { name: "Ada Lovelace", source: "website" },
  });
  expect(lead.status).toBe(201);
  expect(lead.headers.get("content-type")).toBe("application/json");

  const leads = await request(api, "list-leads", { apiKey });
  expect(leads.status).toBe(200);
  expect(leads.body).toEqual({ data: [lead.body], pagination: { page: 1, limit: 20, total: 1 } });

  const body = { leadId: lead.body.id, channel: "whatsapp", message: "Hello Ada \u{1F44B}" };
  const sent = await request(api, "send-message", { apiKey, body });
  expect(sent.status).toBe(201);
  expect(sent.body).toMatchObject(body);

  const conversations = await request(api, "list-conversations", { apiKey, query: `leadId=${lead.body.id}` });
  expect(conversations.body).toEqual({
    data: [
      {
        id: sent.body.conversationId,
        leadId: lead.body.id,
        channel: "whatsapp",
        status: "active",
        lastMessageAt: sent.body.createdAt,
        messageCount: 1,
      },
    ],
    pagination: { page: 1, limit: 20, total: 1 },
  });
});

const environments = () => api.log.filter((line) => line.startsWith("[send-message] Environment")).length;

/** Loads several environments: otherwise the first one handles all requests before the others have started. */
async function warmEnvironments(apiKey: string) {
  const { body: lead } = await request(api, "create-lead", { apiKey, body: { name: "Warm-up" } });
  // Messages of different conversations wait for no other.
  const send = (channel: string) =>
    request(api, "send-message", { apiKey, body: { leadId: lead.id, channel, message: "Hello" } });
  const responses = await Promise.all(Array.from({ length: 10 }, (_, i) => send(`warm-up ${i}`)));
  expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(201));
  expect(environments()).toBeGreaterThanOrEqual(8);
}

test("puts 50 concurrent first messages over many environments into one conversation", async () => {
  await warmEnvironments(await newAccount());
  const apiKey = await newAccount();
  const { body: lead } = await request(api, "create-lead", { apiKey, body: { name: "Popular" } });
  const send = async (message: string) => {
    const body = { leadId: lead.id, channel: "instagram", message };
    for (;;) {
      const response = await request(api, "send-message", { apiKey, body });
      // The conversation is hot.
      if (response.status !== 429) return response;
      await setTimeout(1000 * Number(response.headers.get("retry-after")));
    }
  };
  const responses = await Promise.all(Array.from({ length: 50 }, (_, i) => send(`message ${i}`)));

  expect(responses.map(({ status }) => status)).toEqual(Array(50).fill(201));
  expect(new Set(responses.map(({ body }) => body.id)).size).toBe(50);
  expect(new Set(responses.map(({ body }) => body.conversationId)).size).toBe(1);
  const { body } = await request(api, "list-conversations", { apiKey });
  expect(body.data).toMatchObject([{ id: responses[0]?.body.conversationId, messageCount: 50 }]);
  expect(body.data[0]?.lastMessageAt).toBe(
    responses
      .map(({ body }) => body.createdAt)
      .sort()
      .at(-1),
  );
});

describe("two accounts", () => {
  test("never see each other's data, on any route and with any filter", async () => {
    const [ours, theirs] = [await newAccount(), await newAccount()];
    const newLead = { name: "Secret", source: "website" };
    const { body: lead } = await request(api, "create-lead", { apiKey: ours, body: newLead });
    const message = { leadId: lead.id, channel: "whatsapp", message: "Secret" };
    expect((await request(api, "send-message", { apiKey: ours, body: message })).status).toBe(201);

    const filters: [RouteName, Record<string, string>][] = [
      ["list-leads", { status: "new", source: "website" }],
      ["list-conversations", { status: "active", channel: "whatsapp", leadId: lead.id }],
    ];
    for (const [name, values] of filters) {
      for (const query of subsets(values)) {
        const mine = await request(api, name, { apiKey: ours, query });
        expect(mine.body, query).toMatchObject({ data: [{}], pagination: { total: 1 } });
        const { body } = await request(api, name, { apiKey: theirs, query });
        expect(body, query).toEqual({ data: [], pagination: { page: 1, limit: 20, total: 0 } });
      }
    }

    const otherAccount = await request(api, "send-message", { apiKey: theirs, body: message });
    const unknown = await request(api, "send-message", {
      apiKey: theirs,
      body: { ...message, leadId: "lead_x" },
    });
    expect(otherAccount.status).toBe(404);
    expect({ ...otherAccount.problem, requestId: "" }).toEqual({ ...unknown.problem, requestId: "" });
    const { body } = await request(api, "list-conversations", { apiKey: ours });
    expect(body.data).toMatchObject([{ messageCount: 1 }]);
  });

  test("can each have several keys", async () => {
    const account = randomUUID();
    const [first, second] = [await api.issueKey(account), await api.issueKey(account)];
    await request(api, "create-lead", { apiKey: first.apiKey, body: { name: "Shared" } });
    const { body } = await request(api, "list-leads", { apiKey: second.apiKey });
    expect(body.pagination.total).toBe(1);
  });
});

/** A query for every subset of the filters. */
function subsets(values: Record<string, string>): string[] {
  const entries = Object.entries(values);
  return Array.from({ length: 2 ** entries.length }, (_, mask) =>
    new URLSearchParams(entries.filter((_, i) => (mask >> i) & 1)).toString(),
  );
}
