import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { expect, onTestFinished, test, vi } from "vitest";
import { UserError } from "../../../../lib/errors.ts";
import { startGateway } from "../../../../lib/local/gateway/gateway.ts";
import { exchange } from "../../../support/socket.ts";
import { expectGatewayResponse, startProbes } from "../support/gateway.ts";

test("a function's response is passed on with the request's id, which the event has too", async () => {
  const { get, log } = await startProbes({
    respond: ({ requestContext }) => ({
      statusCode: 201,
      headers: { "x-a": "1" },
      cookies: ["a=1", "b=2"],
      body: (requestContext as { requestId: string }).requestId,
    }),
  });
  const response = await get("/probes?secret=1");
  expect(response.status).toBe(201);
  expect(response.headers.get("x-a")).toBe("1");
  expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  const requestId = response.headers.get("apigw-requestid");
  expect(await response.text()).toBe(requestId);
  expect(log).toEqual([expect.stringMatching(/^GET \/probes 201 \d+ ms - /)]);
  expect(log[0]).toContain(requestId);
});

test.each([
  ["GET", "/nowhere"],
  ["GET", "/probes/"],
  ["GET", "/Probes"],
  ["GET", "//probes"],
  ["PUT", "/probes"],
  ["HEAD", "/probes"],
  ["OPTIONS", "/probes"],
])("%s %s matches no route, and invokes no authorizer", async (method, path) => {
  const { get } = await startProbes({
    authorize: () => {
      throw new Error("must not be called");
    },
  });
  const response = await get(path, { method });
  expect(response.status).toBe(404);
  if (method !== "HEAD") expect(await response.json()).toEqual({ message: "Not Found" });
});

test.each([
  ["evil.example", 403],
  ["127.0.0.1.evil.example:3000", 403],
  ["localhost@evil.example", 403],
  ["LOCALHOST:5173", 200],
  ["127.0.0.1", 200],
])("a request for the host %j gets %i", async (host, status) => {
  const { url, log } = await startProbes();
  const sent = httpRequest(`${url}/probes`, { headers: { host } }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.resume();
  expect(response.statusCode).toBe(status);
  expect(log).toEqual([expect.stringContaining(`GET /probes ${status} `)]);
});

test("no response allows the pages of another origin to read it", async () => {
  const { get } = await startProbes();
  for (const method of ["GET", "POST", "OPTIONS"]) {
    const response = await get("/probes", { method, headers: { origin: "http://evil.example" } });
    expect([...response.headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
  }
});

test("a path that cannot be decoded is a bad request", async () => {
  const { get } = await startProbes();
  await expectGatewayResponse(await get("/%zz"), 400, "Bad Request");
});

test.each([
  ["throws", () => Promise.reject(new Error("x"))],
  ["returns an invalid status", () => ({ statusCode: "abc" })],
  ["returns an invalid header", () => ({ statusCode: 200, headers: { a: "\n" } })],
])("a function that %s gets 500", async (_, respond) => {
  const { get } = await startProbes({ respond });
  await expectGatewayResponse(await get(), 500, "Internal Server Error");
});

test("a function that exceeds the gateway's timeout gets 503", async () => {
  const { get } = await startProbes({ respond: () => new Promise(() => {}), timeout: 50 });
  await expectGatewayResponse(await get(), 503, "Service Unavailable");
});

test.each([
  ["over 10 MB", 10_485_761, "application/json"],
  ["over Lambda's 6 MB with its envelope", 6_291_000, "application/json"],
  ["over 6 MB when encoded", 5_000_000, "application/octet-stream"],
])("a body %s gets 413", async (_, size, type) => {
  const { get } = await startProbes();
  const body = Buffer.alloc(size, "a");
  const response = await get("/probes", { method: "POST", body, headers: { "content-type": type } });
  await expectGatewayResponse(response, 413, "Request Entity Too Large");
});

test("a body just under the limits is passed on whole", async () => {
  const { get } = await startProbes({ respond: ({ body }) => ({ length: String(body).length }) });
  const body = Buffer.alloc(6_285_000, "a");
  const response = await get("/probes", { method: "POST", body, headers: { "content-type": "text/plain" } });
  expect(await response.json()).toEqual({ length: body.length });
});

test("requests over the throttle get 429", async () => {
  const { get } = await startProbes({ throttle: { ratePerSecond: 0.001, burst: 2 } });
  expect((await get()).status).toBe(200);
  expect((await get()).status).toBe(200);
  await expectGatewayResponse(await get(), 429, "Too Many Requests");
});

test.each([
  undefined,
  "",
  " ",
])("the identity %j is unauthorized without invoking the authorizer", async (authorization) => {
  let calls = 0;
  const { get } = await startProbes({ authorize: () => ({ isAuthorized: ++calls > 0 }) });
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
  await expectGatewayResponse(await get("/probes", { headers }), 401, "Unauthorized");
  expect(calls).toBe(0);
});

test.each([
  ["throws", () => Promise.reject(new Error("x")), 500, "Internal Server Error"],
  ["returns nothing", () => null, 500, "Internal Server Error"],
  ["returns no boolean", () => ({ isAuthorized: "true" }), 500, "Internal Server Error"],
  [
    "returns a context that is not an object",
    () => ({ isAuthorized: true, context: "x" }),
    500,
    "Internal Server Error",
  ],
  ["denies", () => ({ isAuthorized: false }), 403, "Forbidden"],
])("an authorizer that %s", async (_, authorize, status, message) => {
  const { get } = await startProbes({ authorize });
  await expectGatewayResponse(await get("/probes", { headers: { authorization: "x" } }), status, message);
});

test("the authorizer's context is passed to the function and the log", async () => {
  const { get, log } = await startProbes({
    authorize: ({ type, identitySource }) => ({
      isAuthorized: true,
      context: { accountId: "demo", type, identitySource },
    }),
    respond: ({ requestContext }) => (requestContext as { authorizer: unknown }).authorizer,
  });
  const response = await get("/probes", { headers: { authorization: "Bearer x" } });
  expect(await response.json()).toEqual({
    lambda: { accountId: "demo", type: "REQUEST", identitySource: ["Bearer x"] },
  });
  expect(log[0]).toMatch(/ ms demo /);
  expect(log.join()).not.toContain("Bearer");
});

test("the authorizer's responses, denials too, are cached by identity for all routes", async () => {
  const identities: unknown[] = [];
  const { get } = await startProbes({
    authorize: ({ identitySource }) => {
      const [identity] = identitySource as string[];
      identities.push(identity);
      return { isAuthorized: identity === "good" };
    },
  });
  const getStatus = async (path: string, authorization: string) =>
    (await get(path, { headers: { authorization } })).status;
  for (const path of ["/probes", "/others", "/probes"]) {
    expect(await getStatus(path, "good")).toBe(200);
    expect(await getStatus(path, "bad")).toBe(403);
  }
  expect(identities).toEqual(["good", "bad"]);
});

test.each([
  ["a TTL of 0", 0, () => ({ isAuthorized: true })],
  ["an authorizer that fails", 60, () => Promise.reject(new Error("x"))],
])("nothing is cached with %s", async (_, ttlSeconds, result) => {
  let calls = 0;
  const authorize = () => {
    calls += 1;
    return result();
  };
  const { get } = await startProbes({ ttlSeconds, authorize });
  for (const _ of [1, 2]) await get("/probes", { headers: { authorization: "x" } });
  expect(calls).toBe(2);
});

test.each([
  ["malformed HTTP", "HELLO\r\n\r\n", "HTTP/1.1 400 "],
  [
    "two lengths",
    "POST /probes HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "HTTP/1.1 400 ",
  ],
  ["large headers", `GET /probes HTTP/1.1\r\nHost: x\r\nX-A: ${"a".repeat(11_000)}\r\n\r\n`, "HTTP/1.1 431 "],
])("%s gets a response, and the gateway continues", async (_, bytes, status) => {
  const { url, get } = await startProbes();
  const response = String(await exchange(url, bytes, true));
  expect(response.startsWith(status)).toBe(true);
  expect(response).toContain('{"message":"');
  expect((await get()).status).toBe(200);
});

test("a client that closes the connection during its request does no harm", async () => {
  const { url, get, log } = await startProbes();
  const request = httpRequest(`${url}/probes`, { method: "POST", headers: { "content-length": 100 } });
  request.on("error", () => {});
  request.write("half");
  await once(request, "socket");
  setTimeout(() => request.destroy(), 50);
  await new Promise((resolve) => request.on("close", resolve));
  expect((await get()).status).toBe(200);
  expect(log[0]).toMatch(/^POST \/probes the client went away/);
});

test("a port in use is a UserError", async () => {
  const { url } = await startProbes();
  const port = Number(new URL(url).port);
  const second = startGateway(
    { apiId: "api", routes: [] },
    { port, invoke: async () => ({}), log: () => {} },
  );
  await expect(second).rejects.toThrow(UserError);
  await expect(second).rejects.toThrow(`The port ${port} is in use`);
});

test("stopping completes pending requests and rejects new ones", async () => {
  const late = Promise.withResolvers<unknown>();
  const called = Promise.withResolvers<void>();
  const { url, stop, get } = await startProbes({
    respond: () => {
      called.resolve();
      return late.promise;
    },
  });
  const response = get();
  await called.promise;
  // No timer ends, so nothing but the response ends the wait.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const stopped = stop();
  await expect(fetch(`${url}/probes`)).rejects.toThrow();
  late.resolve({ done: true });
  const last = await response;
  // A connection that stayed open would keep the gateway from ending.
  expect(last.headers.get("connection")).toBe("close");
  expect(await last.json()).toEqual({ done: true });
  await stopped;
});
