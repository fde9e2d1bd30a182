import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { UserError } from "../../../../lib/errors.ts";
import { startGateway } from "../../../../lib/local/gateway/gateway.ts";
import type { Invoke } from "../../../../lib/local/gateway/request-handler.ts";
import type { Api, ApiRoute } from "../../../../lib/local/template/api-definition.ts";
import { exchange } from "../../../support/socket.ts";
import { createFunction } from "../support/stack.ts";

interface Options {
  /** The function behind `GET /probes` and `POST /probes`. */
  readonly respond?: (event: Record<string, unknown>) => unknown;
  readonly authorize?: (event: Record<string, unknown>) => unknown;
  readonly ttlSeconds?: number;
  readonly throttle?: Api["throttle"];
  readonly timeout?: number;
}

async function start({
  respond = () => ({}),
  authorize,
  ttlSeconds = 60,
  throttle,
  timeout = 30_000,
}: Options = {}) {
  const probe = await createFunction("", { label: "probe" });
  const authorizer = { function: await createFunction(""), identityHeaders: ["authorization"], ttlSeconds };
  const route = { path: "/probes", function: probe, timeout, ...(authorize && { authorizer }) };
  const other: ApiRoute = { ...route, method: "GET", path: "/others" };
  const routes: ApiRoute[] = [{ ...route, method: "GET" }, { ...route, method: "POST" }, other];
  const log: string[] = [];
  const invoke: Invoke = async (fn, payload) => {
    const event = JSON.parse(payload);
    return fn === probe ? respond(event) : authorize?.(event);
  };
  const api: Api = { apiId: "api", routes, ...(throttle && { throttle }) };
  const gateway = await startGateway(api, { port: 0, invoke, log: (line) => log.push(line) });
  onTestFinished(() => gateway.stop());
  const get = (path = "/probes", init: RequestInit = {}) => fetch(`${gateway.url}${path}`, init);
  return { ...gateway, log, get };
}

async function expectGatewayResponse(response: Response, status: number, message: string) {
  expect(response.status).toBe(status);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(response.headers.get("apigw-requestid")).toMatch(/^[\w+/]{15}=$/);
  expect(await response.json()).toEqual({ message });
}

test("a function's answer is passed on with the request's id, which the event has too", async () => {
  const { get, log } = await start({
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
])("%s %s is no route, and no authorizer is asked", async (method, path) => {
  const { get } = await start({
    authorize: () => {
      throw new Error("must not be called");
    },
  });
  const response = await get(path, { method });
  expect(response.status).toBe(404);
  if (method !== "HEAD") expect(await response.json()).toEqual({ message: "Not Found" });
});

test("a path that cannot be decoded is a bad request", async () => {
  const { get } = await start();
  await expectGatewayResponse(await get("/%zz"), 400, "Bad Request");
});

test.each([
  ["throws", () => Promise.reject(new Error("x"))],
  ["answers no status", () => ({ statusCode: "abc" })],
  ["answers a header that cannot be sent", () => ({ statusCode: 200, headers: { a: "\n" } })],
])("a function that %s is answered with 500", async (_, respond) => {
  const { get } = await start({ respond });
  await expectGatewayResponse(await get(), 500, "Internal Server Error");
});

test("a function that takes longer than the gateway waits is answered with 503", async () => {
  const { get } = await start({ respond: () => new Promise(() => {}), timeout: 50 });
  await expectGatewayResponse(await get(), 503, "Service Unavailable");
});

test.each([
  ["past 10 MB", 10_485_761, "application/json"],
  ["past Lambda's 6 MB with its envelope", 6_291_000, "application/json"],
  ["past 6 MB once it is encoded", 5_000_000, "application/octet-stream"],
])("a body %s is answered with 413", async (_, size, type) => {
  const { get } = await start();
  const body = Buffer.alloc(size, "a");
  const response = await get("/probes", { method: "POST", body, headers: { "content-type": type } });
  await expectGatewayResponse(response, 413, "Request Entity Too Large");
});

test("a body just under the limits arrives whole", async () => {
  const { get } = await start({ respond: ({ body }) => ({ length: String(body).length }) });
  const body = Buffer.alloc(6_285_000, "a");
  const response = await get("/probes", { method: "POST", body, headers: { "content-type": "text/plain" } });
  expect(await response.json()).toEqual({ length: body.length });
});

test("requests past the throttle are answered with 429", async () => {
  const { get } = await start({ throttle: { ratePerSecond: 0.001, burst: 2 } });
  expect((await get()).status).toBe(200);
  expect((await get()).status).toBe(200);
  await expectGatewayResponse(await get(), 429, "Too Many Requests");
});

test.each([
  undefined,
  "",
  " ",
])("the identity %j is unauthorized without asking the authorizer", async (authorization) => {
  let calls = 0;
  const { get } = await start({ authorize: () => ({ isAuthorized: ++calls > 0 }) });
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
  await expectGatewayResponse(await get("/probes", { headers }), 401, "Unauthorized");
  expect(calls).toBe(0);
});

test.each([
  ["throws", () => Promise.reject(new Error("x")), 500, "Internal Server Error"],
  ["answers nothing", () => null, 500, "Internal Server Error"],
  ["answers no boolean", () => ({ isAuthorized: "true" }), 500, "Internal Server Error"],
  [
    "answers a context that is no object",
    () => ({ isAuthorized: true, context: "x" }),
    500,
    "Internal Server Error",
  ],
  ["denies", () => ({ isAuthorized: false }), 403, "Forbidden"],
])("an authorizer that %s", async (_, authorize, status, message) => {
  const { get } = await start({ authorize });
  await expectGatewayResponse(await get("/probes", { headers: { authorization: "x" } }), status, message);
});

test("the authorizer's context reaches the function and the log", async () => {
  const { get, log } = await start({
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

test("answers of the authorizer, denials too, are kept per identity over all routes", async () => {
  const asked: unknown[] = [];
  const { get } = await start({
    authorize: ({ identitySource }) => {
      const [identity] = identitySource as string[];
      asked.push(identity);
      return { isAuthorized: identity === "good" };
    },
  });
  const statusOf = async (path: string, authorization: string) =>
    (await get(path, { headers: { authorization } })).status;
  for (const path of ["/probes", "/others", "/probes"]) {
    expect(await statusOf(path, "good")).toBe(200);
    expect(await statusOf(path, "bad")).toBe(403);
  }
  expect(asked).toEqual(["good", "bad"]);
});

test.each([
  ["a time to live of 0", 0, () => ({ isAuthorized: true })],
  ["an authorizer that fails", 60, () => Promise.reject(new Error("x"))],
])("nothing is kept with %s", async (_, ttlSeconds, result) => {
  let calls = 0;
  const authorize = () => {
    calls += 1;
    return result();
  };
  const { get } = await start({ ttlSeconds, authorize });
  for (const _ of [1, 2]) await get("/probes", { headers: { authorization: "x" } });
  expect(calls).toBe(2);
});

/** Sends bytes as they are. */
test.each([
  ["no HTTP", "HELLO\r\n\r\n", "HTTP/1.1 400 "],
  [
    "two lengths",
    "POST /probes HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "HTTP/1.1 400 ",
  ],
  ["large headers", `GET /probes HTTP/1.1\r\nHost: x\r\nX-A: ${"a".repeat(11_000)}\r\n\r\n`, "HTTP/1.1 431 "],
])("%s is answered and the gateway goes on", async (_, bytes, status) => {
  const { url, get } = await start();
  const response = String(await exchange(url, bytes, true));
  expect(response.startsWith(status)).toBe(true);
  expect(response).toContain('{"message":"');
  expect((await get()).status).toBe(200);
});

test("a client that goes away in the middle of its request does no harm", async () => {
  const { url, get, log } = await start();
  const request = httpRequest(`${url}/probes`, { method: "POST", headers: { "content-length": 100 } });
  request.on("error", () => {});
  request.write("half");
  await once(request, "socket");
  setTimeout(() => request.destroy(), 50);
  await new Promise((resolve) => request.on("close", resolve));
  expect((await get()).status).toBe(200);
  expect(log[0]).toMatch(/^POST \/probes the client went away/);
});

test("a port in use is told in a sentence", async () => {
  const { url } = await start();
  const port = Number(new URL(url).port);
  const second = startGateway(
    { apiId: "api", routes: [] },
    { port, invoke: async () => ({}), log: () => {} },
  );
  await expect(second).rejects.toThrow(UserError);
  await expect(second).rejects.toThrow(`The port ${port} is in use`);
});

test("stopping ends what is being served and takes nothing more", async () => {
  const late = Promise.withResolvers<unknown>();
  const called = Promise.withResolvers<void>();
  const { url, stop, get } = await start({
    respond: () => {
      called.resolve();
      return late.promise;
    },
  });
  const answered = get();
  await called.promise;
  const stopped = stop();
  await expect(fetch(`${url}/probes`)).rejects.toThrow();
  late.resolve({ done: true });
  expect(await (await answered).json()).toEqual({ done: true });
  const began = performance.now();
  await stopped;
  expect(performance.now() - began).toBeLessThan(1000);
});
