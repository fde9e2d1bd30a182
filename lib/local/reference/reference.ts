import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { extname, join } from "node:path";
import { callInChildProcess } from "../child-process.ts";
import type { Pages } from "../gateway/gateway.ts";
import type { HttpResponse } from "../gateway/http-response.ts";

const { resolve } = createRequire(import.meta.url);

/** The page's files by URL path. */
const files: ReadonlyMap<string, string> = new Map([
  ["/docs", join(import.meta.dirname, "index.html")],
  ["/docs/start.js", join(import.meta.dirname, "start.js")],
  ...["swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"].map(
    (name) => [`/docs/${name}`, resolve(`swagger-ui-dist/${name}`)] as const,
  ),
]);

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".png": "image/png",
  ".json": "application/json",
};

/** No other site may embed or read the page, and it sends requests to this run only. */
const headers = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff",
};

/**
 * Serves `GET /docs`: the reference of the API, from which each route can be tried. The deployed API has no such page.
 *
 * The page receives an API key. No other site can read it, because the gateway serves pages only under its own host names.
 *
 * @param apiKey the key that the page fills in; requests for it wait until it is known
 */
export function referencePages(apiKey: Promise<string>): Pages {
  return async ({ method, url = "" }) => {
    if (method !== "GET") return undefined;
    const [path = ""] = url.split("?");
    if (path === "/docs/openapi.json") return json({ ...(await buildDocument()), servers: [{ url: "/" }] });
    if (path === "/docs/api-key.json") return json(await apiKey);
    const file = files.get(path);
    return file === undefined ? undefined : response(extname(file), await readFile(file));
  };
}

/** Builds the document from the current sources, which `--watch` serves too. */
async function buildDocument(): Promise<object> {
  const module = new URL("../../openapi/document.ts", import.meta.url);
  const failure = "The reference cannot be built";
  return (await callInChildProcess([module, "openApiDocument"], { failure })) as object;
}

const json = (value: unknown) => response(".json", JSON.stringify(value));

const response = (extension: string, body: string | Buffer): HttpResponse => ({
  status: 200,
  headers: { ...headers, "content-type": types[extension] ?? "" },
  body,
});
