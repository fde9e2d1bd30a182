import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { request, startApi } from "../support/api.ts";
import { fetchChecked } from "../support/checked-fetch.ts";

const api = await startApi();
const account = randomUUID();
const full = (await api.issueKey(account)).apiKey;
const read = (await api.issueKey(account, { access: "read" })).apiKey;
const refusal = { status: 403, code: "insufficient_access", detail: "This API key may only read." };

test("a read key lists what a full key of its account stores, and stores nothing", async () => {
  const lead = (await request(api, "create-lead", { apiKey: full, body: { name: "Ada" } })).body;
  const message = { leadId: lead.id, channel: "sms", message: "Hello" };
  // The authorizer's result for this key is cached before it writes.
  expect((await request(api, "list-leads", { apiKey: read })).body.data).toEqual([lead]);
  const refused = [
    await request(api, "create-lead", { apiKey: read, body: { name: "Grace" } }),
    await request(api, "send-message", { apiKey: read, body: message }),
  ];
  for (const { status, headers, problem } of refused) {
    expect(status).toBe(403);
    expect(headers.get("content-type")).toBe("application/problem+json");
    expect(problem).toMatchObject(refusal);
  }
  expect((await request(api, "list-leads", { apiKey: read })).body.pagination.total).toBe(1);
  expect((await request(api, "list-conversations", { apiKey: read })).body.pagination.total).toBe(0);
  expect((await request(api, "send-message", { apiKey: full, body: message })).status).toBe(201);
});

test("a read key learns nothing about what is wrong with its request", async () => {
  const authorization = `Bearer ${read}`;
  for (const [type, body] of [
    ["application/json", "{"],
    ["text/plain", "x"],
    ["application/json", '{"name":5}'],
  ] as const) {
    const post = { method: "POST", headers: { authorization, "content-type": type }, body };
    const response = await fetchChecked(`${api.url}/api/v1/leads?page=0`, post);
    const problem = await response.json();
    expect(problem).toMatchObject(refusal);
    expect(problem).not.toHaveProperty("errors");
  }
});
