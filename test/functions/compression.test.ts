import { PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, describe, expect, type Mock, test, vi } from "vitest";
import { leadItem } from "../../shared/domain/leads.ts";
import { tableName } from "../../shared/dynamodb/table-client.ts";
import type { RouteName } from "../../shared/routes.ts";
import { call, invokeHandler } from "../support/call.ts";
import { decodedBody } from "../support/decoded-body.ts";
import { routeEvent, type TestRequest } from "../support/events.ts";
import { useMemoryTable } from "../support/memory-leads.ts";
import { realisticLeads } from "../support/realistic-leads.ts";

const { limit } = vi.hoisted(() => {
  const limit = 30;
  // The handlers read these when they are loaded.
  Object.assign(process.env, { RATE_LIMIT_REQUESTS: String(limit), RATE_LIMIT_SECONDS: "60" });
  return { limit };
});

let info: Mock<typeof console.info>;
/** Whether the table responds to nothing but the rate limiter. */
let isStalled: boolean;

beforeEach(async () => {
  info = vi.spyOn(console, "info").mockImplementation(() => {});
  vi.spyOn(console, "error").mockImplementation(() => {});
  isStalled = false;
  const memory = useMemoryTable((command, send) =>
    isStalled && !(command instanceof UpdateCommand) ? new Promise(() => {}) : send(command),
  );
  for (const lead of realisticLeads(20))
    await memory.send(new PutCommand({ TableName: tableName, Item: leadItem("acme", lead) }));
});
afterEach(() => {
  vi.restoreAllMocks();
});

const gzip = { "accept-encoding": "gzip" };

const withHeaders = (request: TestRequest, headers: Readonly<Record<string, string>>): TestRequest => ({
  ...request,
  headers: { ...request.headers, ...headers },
});

/** Sends a request twice, plainly and accepting gzip. Checks both responses against the document. */
async function sendBoth(name: RouteName, request: TestRequest) {
  await call(name, request);
  await call(name, withHeaders(request, gzip));
  const plain = await invokeHandler(name, routeEvent(name, request));
  const compressed = await invokeHandler(name, routeEvent(name, withHeaders(request, gzip)));
  return { plain, compressed };
}

test("a page of 20 leads of 9 KB is sent with less than 2 KB", async () => {
  const { plain, compressed } = await sendBoth("list-leads", {});
  expect(JSON.parse(plain.body ?? "").data).toEqual(realisticLeads(20));
  expect(Buffer.byteLength(plain.body ?? "")).toBeGreaterThan(8700);
  expect(Buffer.from(compressed.body ?? "", "base64").length).toBeLessThan(2000);
});

const [lead] = realisticLeads(1);
const leadId = String(lead?.id);
const tags = Array.from({ length: 50 }, (_, n) => `tag-${n}-of-the-import`);
const requests: readonly [string, RouteName, TestRequest, number][] = [
  ["a page of leads", "list-leads", {}, 200],
  ["a lead with many tags", "create-lead", { body: { name: "Ada", tags } }, 201],
  [
    "a long message",
    "send-message",
    { body: { leadId, channel: "email", message: "\u{1F44B} Hello\n".repeat(300) } },
    201,
  ],
  ["a hundred faults", "create-lead", { body: { name: "Ada", tags: Array(100).fill("") } }, 400],
];

/** With a key, every response to the same POST repeats the first one. */
const keyOf = (status: number): Readonly<Record<string, string>> =>
  status === 201 ? { "idempotency-key": "key-1" } : {};

describe.each(requests)("%s", (_, name, request, status) => {
  test("is compressed to exactly the plain body, with the same headers, and is logged as before", async () => {
    const repeated = withHeaders(request, keyOf(status));
    const { plain, compressed } = await sendBoth(name, repeated);
    expect(plain.statusCode).toBe(status);
    expect(plain.isBase64Encoded ?? false).toBe(false);
    expect(compressed).toEqual({
      statusCode: status,
      headers: {
        ...plain.headers,
        "content-encoding": "gzip",
        ratelimit: expect.stringMatching(/^"account";r=\d+;t=\d+$/),
      },
      body: expect.stringMatching(/^H4sI/),
      isBase64Encoded: true,
    });
    expect(decodedBody(compressed)).toBe(plain.body);
    expect(plain.headers?.["idempotency-replayed"]).toBe(status === 201 ? "true" : undefined);
    expect(info.mock.lastCall).toEqual([
      expect.objectContaining({ route: name, status, replayed: status === 201, account: "acme" }),
    ]);
  });
});

test("a page of conversations is compressed to exactly the plain body", async () => {
  for (let n = 0; n < 10; n++) {
    const body = { leadId, channel: `channel-${n}`, message: "Hello" };
    expect((await call("send-message", { body })).status).toBe(201);
  }
  const { plain, compressed } = await sendBoth("list-conversations", {});
  expect(JSON.parse(plain.body ?? "").data).toHaveLength(10);
  expect(compressed.headers?.["content-encoding"]).toBe("gzip");
  expect(decodedBody(compressed)).toBe(plain.body);
});

/** Requests more often than two windows of the limit allow. @returns the first response past it */
async function exceedLimit(account: string, headers: Readonly<Record<string, string>>) {
  for (let n = 0; n <= 2 * limit; n++) {
    const response = await call("list-conversations", { account, headers });
    if (response.status !== 200) return response;
  }
  throw new Error("There is no limit.");
}

describe.each<Readonly<Record<string, string>>>([
  {},
  gzip,
])("a small response has Vary and stays plain, with %j", (headers) => {
  test.each<[number, RouteName, TestRequest]>([
    [200, "list-leads", { account: "empty" }],
    [200, "list-conversations", { account: "empty" }],
    [201, "create-lead", { body: { name: "Ada" } }],
    [201, "send-message", { body: { leadId, channel: "email", message: "Hello" } }],
    [400, "list-leads", { query: "limit=0" }],
    [403, "create-lead", { body: { name: "Ada" }, access: "read" }],
    [404, "send-message", { body: { leadId: "lead_1", channel: "email", message: "Hello" } }],
    [415, "create-lead", { body: { name: "Ada" }, headers: { "content-type": "text/plain" } }],
  ])("%i of %s", async (status, name, request) => {
    const response = await call(name, withHeaders(request, headers));
    expect(response.status).toBe(status);
    expect(response.headers).toMatchObject({ vary: "Accept-Encoding" });
    expect(response.headers).not.toHaveProperty("content-encoding");
  });

  test("429, past the rate limit", async () => {
    const { status, headers: received } = await exceedLimit(`flood ${JSON.stringify(headers)}`, headers);
    expect(status).toBe(429);
    expect(received).toMatchObject({ vary: "Accept-Encoding", "retry-after": expect.any(String) });
  });

  test("503, when the table does not respond until the invocation ends", async () => {
    isStalled = true;
    const { status, problem, headers: received } = await call("list-leads", { headers }, 600);
    expect([status, problem.code]).toEqual([503, "busy"]);
    expect(received).toMatchObject({
      vary: "Accept-Encoding",
      "retry-after": expect.stringMatching(/^[123]$/),
    });
  });
});
