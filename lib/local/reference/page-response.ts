import { readFile } from "node:fs/promises";
import { extname } from "node:path";

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
};

/** No other site may embed or read a page, and it sends requests to this run only. */
const pageHeaders = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff",
};

/** The response with a file of a page. */
export const pageResponse = (extension: string, body: string) =>
  new Response(body, { headers: { ...pageHeaders, "content-type": contentTypes[extension] ?? "" } });

export const pageFile = async (path: string) => pageResponse(extname(path), await readFile(path, "utf8"));

export const redirectToReference = async () =>
  new Response(null, { status: 302, headers: { ...pageHeaders, location: "/docs" } });
