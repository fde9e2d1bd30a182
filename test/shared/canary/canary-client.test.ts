import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { canaryClient } from "../../../shared/canary/canary-client.ts";
import { listening } from "../../support/listening.ts";

type Respond = (request: IncomingMessage, response: ServerResponse) => unknown;

let respond: Respond;
const requests: object[] = [];
const server = createServer(async (request, response) => {
  const { method, url, headers } = request;
  requests.push({ method, url, headers, body: await text(request) });
  respond(request, response);
});
afterAll(() => server.closeAllConnections());
const client = canaryClient(await listening(server), "lck_key");

beforeEach(() => {
  requests.length = 0;
});
afterEach(() => void vi.restoreAllMocks());

const json =
  (status: number, body: object, headers: Record<string, string> = {}): Respond =>
  (_, response) =>
    response.writeHead(status, headers).end(JSON.stringify(body));

test("it sends what a client sends, and reads the body and whether it is a replay", async () => {
  respond = json(201, { id: "lead_1" }, { "idempotency-replayed": "true" });
  const created = await client.post("/leads", { name: "Canary" }, "key-1");
  expect(created).toEqual({ replayed: true, body: { id: "lead_1" } });
  respond = json(200, { data: [] });
  expect(await client.get("/leads?limit=1")).toEqual({ replayed: false, body: { data: [] } });
  const authorization = "Bearer lck_key";
  expect(requests).toMatchObject([
    {
      ...{ method: "POST", url: "/leads", body: '{"name":"Canary"}' },
      headers: { authorization, "content-type": "application/json", "idempotency-key": "key-1" },
    },
    { method: "GET", url: "/leads?limit=1", body: "", headers: { authorization } },
  ]);
});

test("another status than that of a success fails it, with a code that names the request", async () => {
  respond = json(200, {});
  await expect(client.post("/leads", {}, "key-1")).rejects.toMatchObject({
    code: "POST /leads returned 200",
  });
  respond = json(503, { code: "busy" });
  await expect(client.get("/leads?id=lead_1")).rejects.toMatchObject({
    code: "GET /leads returned 503",
    reason: "busy",
  });
});

test("it follows no redirect: its key must not go to another address", async () => {
  respond = json(302, {}, { location: "/elsewhere" });
  await expect(client.get("/leads")).rejects.toMatchObject({ code: "GET /leads returned 302" });
  expect(requests).toHaveLength(1);
});

test("it waits eight seconds for a response", async () => {
  const { timeout } = AbortSignal;
  const limit = vi.spyOn(AbortSignal, "timeout").mockImplementation(() => timeout.call(AbortSignal, 10));
  respond = () => {};
  await expect(client.get("/leads")).rejects.toMatchObject({
    code: "GET /leads got no response (TimeoutError)",
  });
  expect(limit).toHaveBeenCalledExactlyOnceWith(8000);
});
