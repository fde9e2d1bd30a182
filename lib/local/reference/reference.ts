import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { extname, join } from "node:path";
import { callAfresh } from "../child-process.ts";
import type { Pages } from "../gateway/gateway.ts";
import type { HttpResponse } from "../gateway/http-response.ts";

const own = import.meta.dirname;
const { resolve } = createRequire(import.meta.url);

/** The files of the page, by their paths. */
const files: ReadonlyMap<string, string> = new Map([
  ["/docs", join(own, "index.html")],
  ["/docs/start.js", join(own, "start.js")],
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

/** No other page may show this one or read of it, and it speaks to nobody but this run. */
const headers = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff",
};

/**
 * Serves `GET /docs` and what belongs to it: the reference of the API, from which each route can be tried. The
 * deployed API has no such page.
 *
 * Only a request that was meant for this machine gets it: a page of another site, whose name leads here, would
 * otherwise be told the key.
 *
 * @param apiKey the key that the page fills in, which may come after the first request
 */
export function referencePages(apiKey: Promise<string>): Pages {
  return async ({ method, url = "", headers: { host = "" } }) => {
    if (method !== "GET" || !/^(?:127\.0\.0\.1|localhost)(?::\d+)?$/.test(host)) return undefined;
    const [path = ""] = url.split("?");
    if (path === "/docs/openapi.json") return json({ ...(await document()), servers: [{ url: "/" }] });
    if (path === "/docs/api-key.json") return json(await apiKey);
    const file = files.get(path);
    return file === undefined ? undefined : response(extname(file), await readFile(file));
  };
}

/** Made of the schemas as they are now: with `--watch`, of those that serve; without, perhaps of newer ones. */
async function document(): Promise<object> {
  const module = new URL("../../openapi/document.ts", import.meta.url);
  const failure = "The reference cannot be made";
  return (await callAfresh([module, "openApiDocument"], { failure })) as object;
}

const json = (value: unknown) => response(".json", JSON.stringify(value));

const response = (extension: string, body: string | Buffer): HttpResponse => ({
  status: 200,
  headers: { ...headers, "content-type": types[extension] ?? "" },
  body,
});
