import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import type { Pages } from "../gateway/gateway.ts";
import type { HttpResponse } from "../gateway/gateway-responses.ts";

/** The page's own files. */
const files = ["start.js", "configuration.js", "style.css", "favicon.svg"];

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
};

/** No other site may embed or read the page, and it sends requests to this run only. */
const pageHeaders = {
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
 * Other sites may only link to the page: each of its larger files would cost the machine time.
 *
 * @param apiKey the key that the page fills in; requests for it wait until it is known
 */
export function referencePages(apiKey: Promise<string>): Pages {
  // Made as soon as the run is ready, so that the first visit does not wait. A request reports what fails.
  apiKey.then(() => Promise.all([pageDocument(), scalar()])).catch(() => {});
  const pages: Readonly<Record<string, () => Promise<HttpResponse>>> = {
    "/": redirect,
    "/docs/": redirect,
    "/docs": () => file("index.html"),
    "/docs/scalar.js": async () => response(".js", await scalar()),
    "/docs/openapi.json": async () => json(await pageDocument()),
    "/docs/api-key.json": async () => json(await apiKey),
    ...Object.fromEntries(files.map((name) => [`/docs/${name}`, () => file(name)])),
  };
  return async ({ method, url = "", headers: { "sec-fetch-site": site = "none" } }) => {
    const [path = ""] = url.split("?");
    const isOwn = ["/", "/docs", "/docs/"].includes(path) || ["none", "same-origin"].includes(site);
    return method === "GET" && isOwn && Object.hasOwn(pages, path) ? pages[path]?.() : undefined;
  };
}

/** A function that makes something at its first call only. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

const pageDocument = once(async () => {
  // It would delay the start of the run.
  const { openApiDocument } = await import("../../openapi/document.ts");
  return toPageDocument(openApiDocument());
});

const scalar = once(readScript);

const redirect = async (): Promise<HttpResponse> => ({
  status: 302,
  headers: { ...pageHeaders, location: "/docs" },
  body: "",
});

const file = async (name: string) => response(extname(name), await readFile(join(import.meta.dirname, name)));

const json = (value: unknown) => response(".json", JSON.stringify(value));

const response = (extension: string, body: string | Buffer): HttpResponse => ({
  status: 200,
  headers: { ...pageHeaders, "content-type": contentTypes[extension] ?? "" },
  body,
});

/** The part of Fastify that the package registers its routes with. */
interface Registration {
  readonly url: string;
  handler(request: object, reply: object): unknown;
}

/**
 * The script of Scalar's page, which the package serves by a route of Fastify: it is registered and called here, without
 * a server.
 *
 * @throws Error when the package has no such route
 */
async function readScript(): Promise<string> {
  const { default: register } = await import("@scalar/fastify-api-reference");
  const routes: Registration[] = [];
  const fastify = { route: (registration: Registration) => routes.push(registration) };
  register(fastify, { configuration: { url: "openapi.json" } }, () => {});
  const route = routes.find(({ url }) => url.endsWith("/scalar.js"));
  if (!route) throw new Error("@scalar/fastify-api-reference has no route for its script");
  return new Promise((resolve) => {
    const reply = { header: () => reply, send: resolve };
    route.handler({}, reply);
  });
}

interface Parameter {
  readonly $ref?: string;
  readonly schema?: { readonly examples?: readonly unknown[] };
}

interface Tag {
  readonly name: string;
  readonly description: string;
}

interface Document {
  readonly info: { readonly title: string; readonly description: string };
  readonly tags: readonly Tag[];
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly parameters: readonly Parameter[] }>>>
  >;
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> };
}

/**
 * Adapts the OpenAPI document to the page: it sends requests to the host that serves it, and each guide is the description
 * of a tag, because Scalar's search finds the words of tags but not those of the introduction.
 */
export function toPageDocument(document: Document) {
  const [introduction = "", ...sections] = document.info.description.split(/^# /m);
  const guides = new Map(
    sections.map((section) => {
      const [name = ""] = section.split("\n", 1);
      return [name, { name, description: section.slice(name.length).trim() }];
    }),
  );
  const tags = document.tags.map((tag) => guides.get(tag.name) ?? tag);
  return {
    ...document,
    info: { ...document.info, description: introduction.trim() },
    tags: [...[...guides.values()].filter((guide) => !tags.includes(guide)), ...tags],
    servers: [{ url: "/" }],
    paths: mapValues(document.paths, (path) =>
      mapValues(path, (operation) => ({ ...operation, parameters: operation.parameters.map(offerExample) })),
    ),
    components: {
      ...document.components,
      parameters: mapValues(document.components.parameters, offerExample),
    },
  };
}

/** Leaves a parameter out of requests until the user turns its example on: it would filter each list. */
function offerExample(parameter: Parameter): object {
  if (parameter.schema?.examples === undefined) return parameter;
  const { examples, ...schema } = parameter.schema;
  return { ...parameter, schema, examples: { example: { value: examples[0], "x-disabled": true } } };
}

const mapValues = <T, R>(record: Readonly<Record<string, T>>, map: (value: T) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
