import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, describe, expect, test } from "vitest";
import { handler } from "../../functions/authorize.ts";
import { issueApiKey } from "../../lib/ops/keys/api-key-changes.ts";
import { tableName } from "../../shared/dynamodb/table-client.ts";
import { authorizerEvent } from "../support/events.ts";
import { useMemoryTable } from "../support/memory-leads.ts";

/** A key and its item, as an operator's command stored it. The digest is by Python's hashlib. */
const issued = {
  apiKey: `lck_01JZ0000000000000000000000_${"0".repeat(27)}_2HQhI7`,
  item: {
    pk: "KEY#2aee1f2d431cf09fdc5573b537d8b01902ee336464b8b67382568105033ee965",
    sk: "01JZ0000000000000000000000",
    byParent: "KEY#acme",
    keyId: "01JZ0000000000000000000000",
    accountId: "acme",
    access: "full",
    createdAt: "2026-01-01T00:00:00.000Z",
  },
};

let memory: ReturnType<typeof useMemoryTable>;
beforeEach(() => {
  memory = useMemoryTable();
});

const store = (item: object) => memory.send(new PutCommand({ TableName: tableName, Item: item }));

test("a stored key works, and nothing of its item but account, id and access is passed on", async () => {
  await store({ ...issued.item, label: "CI", note: "internal", validUntil: "9999-01-01T00:00:00.000Z" });
  expect(await handler(authorizerEvent(`Bearer ${issued.apiKey}`))).toEqual({
    isAuthorized: true,
    context: { accountId: "acme", keyId: issued.item.keyId, access: "full" },
  });
});

test("a new key is stored where the authorizer looks for it, under the account's keys, without the key itself", async () => {
  const { apiKey, keyId } = await issueApiKey("acme", { label: "CI" });
  const [item, ...others] = [...memory.items()];
  expect(others).toEqual([]);
  expect(item).toEqual({
    pk: expect.stringMatching(/^KEY#[0-9a-f]{64}$/),
    sk: keyId,
    byParent: "KEY#acme",
    keyId,
    accountId: "acme",
    access: "full",
    label: "CI",
    createdAt: expect.any(String),
  });
  for (const part of apiKey.split("_").slice(2)) expect(JSON.stringify(item)).not.toContain(part);
});

// API Gateway caches the result by the identity source: what it does not contain must not decide.
describe("only the identity source decides", () => {
  const live = `Bearer ${issued.apiKey}`;
  const bad = "Bearer bad";
  const elsewhere = [
    ["the Authorization header", { headers: { authorization: live } }],
    ["another header", { headers: { "x-api-key": issued.apiKey, "x-account": "acme" } }],
    ["a second identity source", { identitySource: [bad, live] }],
    ["a cookie", { cookies: [`authorization=${live}`] }],
    ["the query", { queryStringParameters: { authorization: live, apiKey: issued.apiKey } }],
  ] as const;

  test.each(elsewhere)("not a live key in %s", async (_, parts) => {
    await store(issued.item);
    const event = { ...authorizerEvent(bad), ...parts } as ReturnType<typeof authorizerEvent>;
    expect(await handler(event)).toEqual({ isAuthorized: false });
  });

  test("nor a bad one", async () => {
    await store(issued.item);
    const event = { ...authorizerEvent(live), headers: { authorization: bad } };
    expect(await handler(event)).toMatchObject({ isAuthorized: true });
  });
});
