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

test.each([
  ["/docs", "text/html; charset=utf-8", /^<!doctype html>/],
  ["/docs?x", "text/html; charset=utf-8", /^<!doctype html>/],
  ["/docs/start.js", "text/javascript; charset=utf-8", /SwaggerUIBundle/],
  ["/docs/swagger-ui-bundle.js", "text/javascript; charset=utf-8", /SwaggerUIBundle/],
  ["/docs/swagger-ui.css", "text/css; charset=utf-8", /\.swagger-ui/],
  ["/docs/favicon-32x32.png", "image/png", /PNG/],
  ["/docs/openapi.json", "application/json", /"servers":\[\{"url":"\/"\}\]/],
  ["/docs/api-key.json", "application/json", /^"the-key"$/],
])("%s is served, and other sites cannot read it", async (path, type, body) => {
  const { url } = await start();
  const response = await fetch(url + path);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe(type);
  expect(response.headers.get("content-security-policy")).toMatch(
    /^default-src 'self';.*frame-ancestors 'none'$/,
  );
  expect(response.headers.get("cross-origin-resource-policy")).toBe("same-origin");
  expect(response.headers.get("access-control-allow-origin")).toBeNull();
  expect(await response.text()).toMatch(body);
});

test.each([
  ["GET", "/docs/"],
  ["GET", "/docs/index.html"],
  ["GET", "/docs/../package.json"],
  ["GET", "/docs/constructor"],
  ["POST", "/docs"],
])("%s %s is not a page", async (method, path) => {
  const { url } = await start();
  expect((await fetch(url + path, { method })).status).toBe(404);
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
