import { once } from "node:events";
import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createTokenBucket } from "../../../../lib/local/gateway/request-routing.ts";
import { UserError } from "../../../../lib/user-error.ts";
import { startProbes } from "../support/gateway.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** Sends what `fetch` does not: another `Host`, and headers that are repeated. */
async function send(url: string, options: RequestOptions, body: string | Buffer = "") {
  const sent = httpRequest(url, options).end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return { status: response.statusCode, text: await text(response) };
}

const identity = { authorization: "x" };

const returned = (body: unknown) => ({ statusCode: 200, body: JSON.stringify(body) });

test("a function gets an event of payload format 2.0 with the fields that it reads", async () => {
  const { url } = await startProbes({ respond: returned });
  const headers = { ...identity, host: "localhost:3000", "Content-Type": "application/json" };
  const path = `${url}/probes?a=1&a=2&b=x+y%20z&c=%zz?d`;
  const repeated = { ...headers, "X-A": ["1", "2"], expect: "x" };
  const event = JSON.parse((await send(path, { method: "POST", headers: repeated }, '{"a":"é"}')).text);
  expect(event).toEqual({
    version: "2.0",
    routeKey: "POST /probes",
    rawPath: "/probes",
    rawQueryString: "a=1&a=2&b=x+y%20z&c=%zz?d",
    headers: expect.objectContaining({ "content-type": "application/json", "x-a": "1,2" }),
    requestContext: {
      http: { method: "POST", path: "/probes", sourceIp: "127.0.0.1" },
      requestId: expect.stringMatching(/^[\w+/]{15}=$/),
      routeKey: "POST /probes",
      stage: "$default",
      authorizer: { lambda: {} },
    },
    body: '{"a":"é"}',
    isBase64Encoded: false,
  });
});

test.each([
  ["Application/JSON; charset=utf-8", false],
  ["text/plain; charset=iso-8859-1", true],
  ["text/csv", false],
  ["application/problem+json", true],
  ["application/octet-stream", true],
])("a body of type %s is base64-encoded: %s", async (type, isBase64Encoded) => {
  const { get } = await startProbes({ respond: returned });
  const response = await get("/probes", { method: "POST", headers: { "content-type": type }, body: "{}" });
  expect(await response.json()).toMatchObject({ isBase64Encoded, body: isBase64Encoded ? "e30=" : "{}" });
});

test("a function's result becomes a response, and a log line without its query", async () => {
  const headers = { A: "1", "Content-Length": "9" };
  const { get, log } = await startProbes({ respond: () => ({ statusCode: 201, headers, body: "hi" }) });
  const response = await get("/probes?secret=1");
  expect([response.status, await response.text()]).toEqual([201, "hi"]);
  expect(Object.fromEntries(response.headers)).toMatchObject({ a: "1", "content-length": "2" });
  expect(log).toEqual([expect.stringMatching(/^GET \/probes 201 \d+ ms - /)]);
  expect(log[0]).toContain(response.headers.get("apigw-requestid"));
});

test.each([
  null,
  { a: 1 },
  { statusCode: "200" },
  { statusCode: 200, body: {} },
  { statusCode: 200, headers: { "a b": "1" } },
  { statusCode: 200, headers: { a: "x\r\ny: 1" } },
  new Error("thrown"),
])("a request whose function returns %j gets 500", async (result) => {
  const { get } = await startProbes({
    respond: () => (result instanceof Error ? Promise.reject(result) : result),
  });
  const response = await get();
  expect(response.status).toBe(500);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(response.headers.get("apigw-requestid")).toMatch(/^[\w+/]{15}=$/);
  expect(await response.json()).toEqual({ message: "Internal Server Error" });
});

const tooLarge = Buffer.alloc(10_485_761, "a");
const largest = tooLarge.subarray(1);

describe("a request with several faults gets the response to the first one, in this order:", () => {
  const forbidding = { authorize: () => ({ isAuthorized: false, context: { reason: "expired" } }) };
  const noTokens = { ...forbidding, throttle: { ratePerSecond: 0, burst: 0 } };
  const foreign = { host: "evil.example" };
  const permitting = { authorize: () => ({ isAuthorized: true }) };
  test.each([
    ["size", 413, "", noTokens, "/%zz", foreign, tooLarge],
    ["path", 400, "", noTokens, "/%zz", foreign, largest],
    ["host", 403, " (its Host is not 127.0.0.1 or localhost)", noTokens, "/nowhere", foreign, largest],
    ["route", 404, " (no route)", noTokens, "/nowhere", {}, largest],
    ["throttle", 429, " (the throttle of the stage)", noTokens, "/probes", {}, largest],
    ["identity", 401, " (no authorization header)", forbidding, "/probes", {}, largest],
    ["authorizer", 403, " (expired)", forbidding, "/probes", identity, largest],
    ["event", 413, "", permitting, "/probes", identity, largest],
  ])("%s, and its log line says why the gateway refused it", async (_, status, reason, options, path, headers, body) => {
    const { url, log } = await startProbes(options);
    expect((await send(url + path, { method: "POST", headers }, body)).status).toBe(status);
    await expect.poll(() => log).toHaveLength(1);
    expect(/ ms - \S+(.*)$/.exec(log[0] ?? "")?.[1]).toBe(reason);
  });
});

test("the throttle allows a burst, then the rate, and never more than the burst", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const takeToken = createTokenBucket({ ratePerSecond: 10, burst: 3 });
  const take = (count: number) => Array.from({ length: count }, takeToken).filter(Boolean).length;
  expect(take(5)).toBe(3);
  vi.advanceTimersByTime(100);
  expect(take(5)).toBe(1);
  vi.advanceTimersByTime(60_000);
  expect(take(5)).toBe(3);
});

test.each([
  ["evil.example", 403],
  ["127.0.0.1.evil.example:3000", 403],
  ["localhost@evil.example", 403],
  ["LOCALHOST:5173", 200],
  ["127.0.0.1", 200],
])("a request for the host %j gets %i", async (host, status) => {
  const { url } = await startProbes();
  expect((await send(`${url}/probes`, { headers: { ...identity, host } })).status).toBe(status);
});

test("the authorizer's responses, including denials but not failures, are cached by identity for all routes", async () => {
  const identities: unknown[] = [];
  const { get } = await startProbes({
    authorize: ({ identitySource }) => {
      identities.push(identitySource);
      if (String(identitySource) === "broken") throw new Error("on purpose");
      return { isAuthorized: String(identitySource) === "good" };
    },
  });
  for (const path of ["/probes", "/others", "/probes"])
    for (const [authorization, expected] of Object.entries({ good: 200, bad: 403, broken: 500 })) {
      const { status } = await get(path, { headers: { authorization } });
      expect([authorization, status]).toEqual([authorization, expected]);
    }
  expect(identities.flat()).toEqual(["good", "bad", "broken", "broken", "broken"]);
});

test.each([
  [60, [1, 1, 2, 2]],
  [0, [1, 2, 3, 4]],
])("with a TTL of %i s, the authorizer's responses are cached for exactly this time", async (ttlSeconds, expected) => {
  vi.useFakeTimers({ toFake: ["Date"] });
  let calls = 0;
  const { get } = await startProbes({ ttlSeconds, authorize: () => ({ isAuthorized: ++calls > 0 }) });
  for (const [request, milliseconds] of [0, 59_999, 1, 59_999].entries()) {
    vi.setSystemTime(Date.now() + milliseconds);
    expect((await get("/probes", { headers: identity })).status).toBe(200);
    expect([request, calls]).toEqual([request, expected[request]]);
  }
});

test("a client that closes the connection during its request does no harm", async () => {
  const { url, get, log } = await startProbes();
  const headers = { "content-length": 100, expect: "100-continue" };
  const request = httpRequest(`${url}/probes`, { method: "POST", headers });
  request.on("error", () => {});
  const closed = new Promise((resolve) => request.on("close", resolve));
  // The gateway has the head of the request.
  await once(request, "continue");
  request.write("half");
  request.destroy();
  await closed;
  expect((await get()).status).toBe(200);
  expect(log[0]).toMatch(/^POST \/probes 500 \d+ ms .* \(aborted\)$/);
});

test("a port that is in use, or that is none, is a UserError", async () => {
  await expect(startProbes({ port: Number.NaN })).rejects.toThrow(UserError);
  const { url } = await startProbes();
  const port = Number(new URL(url).port);
  const sentence = `The port ${port} cannot be used (listen EADDRINUSE: address already in use 127.0.0.1:${port}): set PORT to another one.`;
  await expect(startProbes({ port })).rejects.toThrow(new UserError(sentence));
});
