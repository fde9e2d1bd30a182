import { once } from "node:events";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test, vi } from "vitest";
import { referencePages } from "../../../../lib/local/reference/reference.ts";
import { openApiDocument } from "../../../../lib/openapi/document.ts";
import { startProbes } from "../support/gateway.ts";

const start = (apiKey = Promise.resolve("the-key")) => startProbes({ webPages: referencePages(apiKey) });

const policy =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'";

test.each([
  [
    ...(["/docs?x", "text/html; charset=utf-8"] as const),
    /^<!doctype html>.*href="\/docs\/openapi.json".*src="\/docs\/start.js"/s,
  ],
  ["/docs/start.js", "text/javascript; charset=utf-8", /createApiReference/],
  ["/docs/scalar.js", "text/javascript; charset=utf-8", /^\(function\(\)\{.*Scalar=\{createApiReference:/s],
  ["/docs/style.css", "text/css; charset=utf-8", /--scalar-font/],
  ["/docs/favicon.svg", "image/svg+xml", /^<svg/],
  ["/docs/openapi.json", "application/json", /"url": "http:\/\/127.0.0.1:3000"/],
  ["/docs/page.json", "application/json", /"servers":\[\{"url":"\/"\}\]/],
  ["/docs/api-key.json", "application/json", /^"the-key"$/],
  ["/inbox", "text/html; charset=utf-8", /src="\/inbox\/inbox.js"/],
  ["/inbox/inbox.js", "text/javascript; charset=utf-8", /from "\.\.\/client\/recipes\.ts"/],
  ["/client/client.ts", "text/javascript; charset=utf-8", /^export class ApiError extends Error \{/],
  ["/", null, /^$/],
  ["/docs/?x", null, /^$/],
])("%s is served or redirects to the page, and other sites cannot read it", async (path, type, body) => {
  const { url } = await start();
  const { status, headers, ...response } = await fetch(url + path, { redirect: "manual" }).then(
    async (response) => ({ status: response.status, headers: response.headers, text: await response.text() }),
  );
  expect([status, headers.get("location")]).toEqual(type === null ? [302, "/docs"] : [200, null]);
  if (type !== null) expect(headers.get("content-type")).toBe(type);
  expect(headers.get("content-security-policy")).toBe(policy);
  expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
  expect(headers.get("access-control-allow-origin")).toBeNull();
  expect(response.text).toMatch(body);
});

interface Parameter {
  readonly name?: string;
  readonly examples?: Readonly<Record<string, object>>;
}

test("each guide is the description of a tag, so that the search finds it, and the document is built only once", async () => {
  const { url } = await start();
  const read = async () => (await (await fetch(`${url}/docs/page.json`)).json()) as typeof built;
  const built = openApiDocument();
  const page = await read();
  const stringify = vi.spyOn(JSON, "stringify");
  expect(await read()).toEqual(page);
  expect(stringify).not.toHaveBeenCalled();
  const guides = built.info.description.split(/^# /m).slice(1);
  expect(guides.length).toBeGreaterThan(3);
  const text = (guide: string) => guide.replaceAll(/\[([^\]]+)\]\(#[^)]+\)/g, "$1").trim();
  const shown = page.tags.map(({ name, description }) => text(`${name}\n\n${description}`));
  expect(shown).toEqual(expect.arrayContaining(guides.map(text)));
  const names = page.tags.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(built.tags.map(({ name }) => name)));
  expect(new Set(names).size).toBe(names.length);
});

test("no parameter is sent until the reader turns it on, except the one that chooses the body of an example", async () => {
  const { url } = await start();
  const { paths, components } = (await (await fetch(`${url}/docs/page.json`)).json()) as {
    readonly paths: Record<string, Record<string, { readonly parameters: Parameter[] }>>;
    readonly components: { readonly parameters: Record<string, Parameter> };
  };
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const parameters = [
    ...operations.flatMap((operation) => operation.parameters),
    ...Object.values(components.parameters),
  ].filter(({ name }) => name !== undefined);
  expect(parameters.length).toBeGreaterThan(15);
  const off = { value: expect.anything(), "x-disabled": true };
  for (const { name, examples = {} } of parameters) {
    const chosen = Object.keys(examples).filter((example) => example.startsWith(`${name}=`));
    for (const [example, offered] of Object.entries(examples))
      expect([name, example, offered]).toEqual([
        name,
        example,
        chosen.includes(example) ? { value: example.slice(`${name}=`.length) } : off,
      ]);
    expect([name, chosen.length]).toEqual([name, { update: 2, ifExists: 1 }[name ?? ""] ?? 0]);
  }
});

test.each([
  ["GET", "/docs/index.html", {}, 404],
  ["GET", "/docs/constructor", {}, 404],
  ["GET", "//", {}, 404],
  ["POST", "/docs", {}, 404],
  ["HEAD", "/docs", {}, 404],
  ["GET", "/docs/openapi.json", { "sec-fetch-site": "cross-site" }, 404],
  ["GET", "/docs/scalar.js", { "sec-fetch-site": "same-site" }, 404],
  ["GET", "/docs/api-key.json", { "sec-fetch-site": "cross-site" }, 404],
  ["GET", "/docs/api-key.json", { host: "evil.example:3000" }, 403],
  ["GET", "/client/recipes.ts", { "sec-fetch-site": "cross-site" }, 404],
  ["GET", "/docs", { "sec-fetch-site": "cross-site" }, 200],
  ["GET", "/inbox", { "sec-fetch-site": "cross-site" }, 200],
  ["GET", "/docs/scalar.js", { "sec-fetch-site": "same-origin" }, 200],
  ["GET", "/docs/openapi.json", { "sec-fetch-site": "none" }, 200],
])("%s %s with %j gets %i, and only the page of this run gets the key", async (method, path, headers, status) => {
  const { url } = await start();
  const sent = request(url + path, { method, headers }).end();
  const [response] = await once(sent, "response");
  expect(response.statusCode).toBe(status);
  expect(await text(response)).not.toContain("the-key");
});

test("a request for the key waits until it is known", async () => {
  const key = Promise.withResolvers<string>();
  const { url } = await start(key.promise);
  const early = fetch(`${url}/docs/api-key.json`);
  key.resolve("late-key");
  expect(await (await early).json()).toBe("late-key");
});
