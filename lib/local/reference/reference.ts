import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import type { WebPages } from "../gateway/request-routing.ts";
import { pageDocument } from "./page-document.ts";

/** The directory with the OpenAPI document, the client and the inbox, which is an app beside the service. */
const docs = join(import.meta.dirname, "../../../docs");

/** Content types by the extension of a path. Pages have none. */
const contentTypes: Readonly<Record<string, string>> = {
  "": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".ts": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
};

/** No other site may embed or read a page, and a page can send requests to this run only. */
const pageHeaders = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff",
};

/**
 * Serves `GET /docs`, the reference of the API, where each route can be tried, and `GET /inbox`, which shows who waits for a
 * reply, the messages with their states, and the requests that it sends. The deployed API has no such pages.
 *
 * The pages receive an API key. No other site can read it, because the gateway serves pages only under its own host names.
 *
 * Other sites may link to the pages but not request their files: serving the larger files costs this machine time.
 *
 * @param apiKey the key that the pages use; requests for it wait until it is known
 */
export function referencePages(apiKey: Promise<string>): WebPages {
  // Made as soon as the run is ready, so that the first visit does not wait.
  const [document, script] = [apiKey.then(pageDocument), apiKey.then(scalar)];
  // The request for a file reports its failure.
  for (const made of [document, script]) made.catch(() => {});
  const pages = new Map<string, () => Promise<string>>([
    ...readFolder("/docs", join(import.meta.dirname, "docs")),
    ...readFolder("/inbox", join(docs, "inbox")),
    ["/docs/scalar.js", () => script],
    ["/docs/openapi.json", () => readFile(join(docs, "openapi.json"), "utf8")],
    ["/docs/page.json", () => document],
    ["/docs/api-key.json", async () => JSON.stringify(await apiKey)],
    ["/client/client.ts", () => clientFile("client.ts")],
    ["/client/recipes.ts", () => clientFile("recipes.ts")],
  ]);
  return async ({ method, url = "", headers: { "sec-fetch-site": site = "none" } }) => {
    const [path = ""] = url.split("?");
    const isOwn = /^\/(docs\/?|inbox)?$/.test(path) || ["none", "same-origin"].includes(site);
    if (method !== "GET" || !isOwn) return undefined;
    if (["/", "/docs/"].includes(path))
      return new Response(null, { status: 302, headers: { ...pageHeaders, location: "/docs" } });
    const body = await pages.get(path)?.();
    const headers = { ...pageHeaders, "content-type": contentTypes[extname(path)] ?? "" };
    return body === undefined ? undefined : new Response(body, { headers });
  };
}

/** The files of a page by their paths. The path of the page itself serves `index.html`. */
const readFolder = (path: string, folder: string) =>
  readdirSync(folder).map((name): [string, () => Promise<string>] => [
    name === "index.html" ? path : `${path}/${name}`,
    () => readFile(join(folder, name), "utf8"),
  ]);

/** A file of the API's client, compiled for browsers. */
async function clientFile(name: string): Promise<string> {
  // A static import would delay the start of the run.
  const { transform } = await import("esbuild");
  const source = await readFile(join(docs, "client", name), "utf8");
  return (await transform(source, { loader: "ts" })).code;
}

/**
 * The script of Scalar's page. The package serves it by a Fastify route, which this function registers and calls without a
 * server.
 *
 * @throws Error when the package has no such route
 */
async function scalar(): Promise<string> {
  const { default: register } = await import("@scalar/fastify-api-reference");
  return new Promise((resolve, reject) => {
    const reply = { header: () => reply, send: resolve };
    const route = (registered: { url: string; handler(request: object, reply: object): unknown }) =>
      registered.url.endsWith("/scalar.js") && registered.handler({}, reply);
    const done = () => reject(new Error("@scalar/fastify-api-reference has no route for its script"));
    register({ route }, { configuration: { url: "openapi.json" } }, done);
  });
}
