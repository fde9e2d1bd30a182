import { once } from "node:events";
import { get } from "node:http";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { startGateway } from "../../../../lib/local/gateway/gateway.ts";
import { referencePages } from "../../../../lib/local/reference/reference.ts";

async function start(apiKey = Promise.resolve("the-key")) {
  const api = { apiId: "api", routes: [] };
  const gateway = await startGateway(api, {
    port: 0,
    invoke: async () => ({}),
    pages: referencePages(apiKey),
    log: () => {},
  });
  onTestFinished(() => gateway.stop());
  return gateway;
}

const policy =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'";

function expectClosed(headers: Headers) {
  expect(headers.get("content-security-policy")).toBe(policy);
  expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
  expect(headers.get("access-control-allow-origin")).toBeNull();
}

test.each([
  ["cross-site", "/docs/openapi.json", 404],
  ["same-site", "/docs/scalar.js", 404],
  ["cross-site", "/docs/api-key.json", 404],
  ["cross-site", "/docs", 200],
  ["same-origin", "/docs/scalar.js", 200],
  ["none", "/docs/openapi.json", 200],
])("a request that a browser marks as %s for %s gets %i", async (site, path, status) => {
  const { url } = await start();
  const request = get(url + path, { headers: { "sec-fetch-site": site } });
  const [response] = await once(request, "response");
  response.resume();
  expect(response.statusCode).toBe(status);
});

test.each([
  ["/docs", "text/html; charset=utf-8", /^<!doctype html>/],
  ["/docs?x", "text/html; charset=utf-8", /^<!doctype html>/],
  ["/docs/start.js", "text/javascript; charset=utf-8", /createApiReference/],
  ["/docs/configuration.js", "text/javascript; charset=utf-8", /export const configuration/],
  ["/docs/scalar.js", "text/javascript; charset=utf-8", /^\(function\(\)\{.*Scalar=\{createApiReference:/s],
  ["/docs/style.css", "text/css; charset=utf-8", /--scalar-font/],
  ["/docs/favicon.svg", "image/svg+xml", /^<svg/],
  ["/docs/openapi.json", "application/json", /"servers":\[\{"url":"\/"\}\]/],
  ["/docs/api-key.json", "application/json", /^"the-key"$/],
])("%s is served, and other sites cannot read it", async (path, type, body) => {
  const { url } = await start();
  const response = await fetch(url + path);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe(type);
  expectClosed(response.headers);
  expect(await response.text()).toMatch(body);
});

test.each(["/", "/docs/", "/?x", "/docs/?x"])("%s leads to the page", async (path) => {
  const { url } = await start();
  const response = await fetch(url + path, { redirect: "manual" });
  expect([response.status, response.headers.get("location")]).toEqual([302, "/docs"]);
  expectClosed(response.headers);
});

test.each([
  ["GET", "/docs/index.html"],
  ["GET", "/docs/../package.json"],
  ["GET", "/docs/constructor"],
  ["GET", "/constructor"],
  ["GET", "//"],
  ["GET", "/index.html"],
  ["POST", "/docs"],
  ["POST", "/"],
  ["POST", "/docs/"],
])("%s %s is not a page", async (method, path) => {
  const { url } = await start();
  const response = await fetch(url + path, { method });
  expect([response.status, await response.text()]).toEqual([404, '{"message":"Not Found"}']);
});

test.each(["/", "/docs", "/docs/"])("HEAD %s is not a page", async (path) => {
  const { url } = await start();
  expect((await fetch(url + path, { method: "HEAD", redirect: "manual" })).status).toBe(404);
});

test.each([
  "evil.example",
  "evil.example:3000",
  "127.0.0.1.evil.example",
])("a request for the host %j gets no key", async (host) => {
  const { url } = await start();
  const body = await new Promise<string>((resolve, reject) => {
    get(`${url}/docs/api-key.json`, { headers: { host } }, (response) => resolve(text(response))).on(
      "error",
      reject,
    );
  });
  expect(body).toBe('{"message":"Forbidden"}');
});

test("a request for the key waits until it is known", async () => {
  const key = Promise.withResolvers<string>();
  const { url } = await start(key.promise);
  const early = fetch(`${url}/docs/api-key.json`);
  key.resolve("late-key");
  expect(await (await early).json()).toBe("late-key");
});
