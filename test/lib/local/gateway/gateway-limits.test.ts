import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { exchange } from "../../../support/socket.ts";
import { expectGatewayResponse, startProbes } from "../support/gateway.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** Sends a request whose `Host` may be another one, which `fetch` does not allow. */
async function statusOf(
  url: string,
  path: string,
  {
    host = "127.0.0.1",
    body = "",
    headers = {},
  }: { host?: string; body?: string | Buffer; headers?: object },
): Promise<number | undefined> {
  const sent = httpRequest(`${url}${path}`, { method: "POST", headers: { ...headers, host } }).end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

const tooLarge = Buffer.alloc(10_485_761, "a");
const largest = tooLarge.subarray(1);
const identity = { authorization: "x" };

describe("a request with several faults gets the response to the first one, in this order:", () => {
  const forbidding = { authorize: () => ({ isAuthorized: false }) };
  const noTokens = { ...forbidding, throttle: { ratePerSecond: 0, burst: 0 } };
  test.each([
    ["size", 413, noTokens, "/%zz", { host: "evil.example", body: tooLarge }],
    ["path", 400, noTokens, "/%zz", { host: "evil.example", body: largest }],
    ["host", 403, noTokens, "/nowhere", { host: "evil.example", body: largest }],
    ["route", 404, noTokens, "/nowhere", { body: largest }],
    ["throttle", 429, noTokens, "/probes", { body: largest }],
    ["identity", 401, forbidding, "/probes", { body: largest }],
    ["authorizer", 403, forbidding, "/probes", { body: largest, headers: identity }],
    [
      "event",
      413,
      { authorize: () => ({ isAuthorized: true }) },
      "/probes",
      { body: largest, headers: identity },
    ],
  ])("%s", async (_, status, options, path, request) => {
    const { url } = await startProbes(options);
    expect(await statusOf(url, path, request)).toBe(status);
  });
});

test("a request that matches no route takes no token from the throttle", async () => {
  const { get } = await startProbes({ throttle: { ratePerSecond: 0, burst: 1 } });
  for (const [path, status] of [
    ["/nowhere", 404],
    ["/nowhere", 404],
    ["/probes", 200],
    ["/probes", 429],
    ["/nowhere", 404],
  ] as const)
    expect([path, (await get(path)).status]).toEqual([path, status]);
});

test("an event has at most 6 MB, its envelope included", async () => {
  const received: number[] = [];
  const { get } = await startProbes({
    respond: (event) => {
      received.push(JSON.stringify(event).length);
      return {};
    },
  });
  const post = async (length: number) => {
    const headers = { "content-type": "text/plain", "x-length": String(length).padStart(8) };
    return (await get("/probes", { method: "POST", headers, body: "a".repeat(length) })).status;
  };
  expect(await post(1_000_000)).toBe(200);
  const envelope = (received[0] ?? 0) - 1_000_000;
  expect(await post(6_291_456 - envelope)).toBe(200);
  expect(received[1]).toBe(6_291_456);
  expect(await post(6_291_457 - envelope)).toBe(413);
  expect(received).toHaveLength(2);
});

test("the request line and the headers have at most 10,240 bytes", async () => {
  const { url } = await startProbes();
  const status = async (bytes: number) => {
    const head = "GET /probes HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: ";
    const sent = `${head}${"a".repeat(bytes - head.length - 4)}\r\n\r\n`;
    return String(await exchange(url, sent)).slice(9, 12);
  };
  expect([await status(10_000), await status(10_400)]).toEqual(["200", "431"]);
});

test("stopping waits five seconds for pending requests, and then ends them", async () => {
  const called = Promise.withResolvers<void>();
  const { url, stop } = await startProbes({
    respond: () => {
      called.resolve();
      return new Promise(() => {});
    },
  });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const client = connect(Number(new URL(url).port), "127.0.0.1");
  client.write("GET /probes HTTP/1.1\r\nHost: localhost\r\n\r\n");
  let closed = false;
  client
    .on("error", () => {})
    .on("close", () => {
      closed = true;
    });
  await called.promise;
  const stopped = stop();
  await vi.advanceTimersByTimeAsync(4999);
  expect(closed).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await expect.poll(() => closed).toBe(true);
  await stopped;
});

test("the authorizer's responses are cached for the TTL and no longer", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  let calls = 0;
  const { get } = await startProbes({ ttlSeconds: 60, authorize: () => ({ isAuthorized: ++calls > 0 }) });
  for (const [milliseconds, expected] of [
    [0, 1],
    [59_999, 1],
    [1, 2],
    [59_999, 2],
  ] as const) {
    vi.setSystemTime(Date.now() + milliseconds);
    expect((await get("/probes", { headers: identity })).status).toBe(200);
    expect([milliseconds, calls]).toEqual([milliseconds, expected]);
  }
});

test("identities of several headers are told apart, wherever one ends", async () => {
  const identities: unknown[] = [];
  const { get } = await startProbes({
    identityHeaders: ["authorization", "x-tenant"],
    authorize: ({ identitySource }) => {
      identities.push(identitySource);
      return { isAuthorized: true };
    },
  });
  const pairs = [
    ["a,b", "c"],
    ["a", "b,c"],
    ['a","b', "c"],
    ["a", "c"],
  ];
  for (const [authorization = "", tenant = ""] of [...pairs, ...pairs])
    await get("/probes", { headers: { authorization, "x-tenant": tenant } });
  expect(identities).toEqual(pairs);
  await expectGatewayResponse(await get("/probes", { headers: identity }), 401, "Unauthorized");
});
