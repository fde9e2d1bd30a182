import { join } from "node:path";
import type { openApiDocument } from "../../openapi/document.ts";
import type { Pages } from "../gateway/request-routing.ts";
import { inboxPages } from "./inbox/inbox-pages.ts";
import { pageFile, pageResponse, redirectToReference } from "./page-response.ts";

/** The page's own files. */
const files = ["start.js", "configuration.js", "style.css", "favicon.svg"];

/**
 * Serves `GET /docs`, the reference of the API, from which each route can be tried, and `GET /inbox`. The deployed API has no
 * such pages.
 *
 * The pages receive an API key. No other site can read it, because the gateway serves pages only under its own host names.
 *
 * Other sites may only link to the pages: each of the larger files would cost the machine time.
 *
 * @param apiKey the key that the pages use; requests for it wait until it is known
 */
export function referencePages(apiKey: Promise<string>): Pages {
  // Made as soon as the run is ready, so that the first visit does not wait. A request reports what fails.
  apiKey.then(() => Promise.all([pageDocument(), scalar()])).catch(() => {});
  const pages: Readonly<Record<string, () => Promise<Response>>> = {
    ...inboxPages,
    "/": redirectToReference,
    "/docs/": redirectToReference,
    "/docs": () => file("index.html"),
    "/docs/scalar.js": async () => pageResponse(".js", await scalar()),
    "/docs/openapi.json": async () => pageResponse(".json", await pageDocument()),
    "/docs/api-key.json": async () => pageResponse(".json", JSON.stringify(await apiKey)),
    ...Object.fromEntries(files.map((name) => [`/docs/${name}`, () => file(name)])),
  };
  return async ({ method, url = "", headers: { "sec-fetch-site": site = "none" } }) => {
    const [path = ""] = url.split("?");
    const isOwn = /^\/(docs\/?|inbox)?$/.test(path) || ["none", "same-origin"].includes(site);
    return method === "GET" && isOwn && Object.hasOwn(pages, path) ? pages[path]?.() : undefined;
  };
}

/** A function that makes something at its first call only. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

const file = (name: string) => pageFile(join(import.meta.dirname, name));

const pageDocument = once(async () => {
  // It would delay the start of the run.
  const { openApiDocument } = await import("../../openapi/document.ts");
  return JSON.stringify(toPageDocument(openApiDocument()), offerExample);
});

/** The part of a route of Fastify that the package registers. */
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
const scalar = once(async () => {
  const { default: register } = await import("@scalar/fastify-api-reference");
  return new Promise<string>((resolve, reject) => {
    const reply = { header: () => reply, send: resolve };
    const route = ({ url, handler }: Registration) => url.endsWith("/scalar.js") && handler({}, reply);
    const done = () => reject(new Error("@scalar/fastify-api-reference has no route for its script"));
    register({ route }, { configuration: { url: "openapi.json" } }, done);
  });
});

const inbox =
  "\n\n**[The inbox](/inbox)** of this run shows the conversations, and the requests that it takes.";

/**
 * Adapts the OpenAPI document to the page: it sends requests to the host that serves it, and each guide is the description
 * of a tag, because Scalar's search finds the words of tags but not those of the introduction.
 */
function toPageDocument(document: ReturnType<typeof openApiDocument>) {
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
    info: { ...document.info, description: introduction.trim() + inbox },
    tags: [...[...guides.values()].filter((guide) => !tags.includes(guide)), ...tags],
    servers: [{ url: "/" }],
  };
}

/** The part of a parameter of the OpenAPI document that has an example. */
interface Parameter {
  readonly in?: string;
  readonly name?: string;
  readonly schema?: { readonly examples?: readonly unknown[] };
}

/** The names of the examples of bodies: who chooses one on the page also chooses the example of a parameter with that name. */
const exampleNames = ["example", "message", "update=message", "update=conversation"];

/**
 * Leaves each parameter out of requests until the user turns its example on: it would filter each list. One that chooses a
 * body is turned on with it.
 */
function offerExample(_key: string, value: Parameter | null) {
  if (!value?.in || !value.schema?.examples) return value;
  const { examples, ...schema } = value.schema;
  const offered = exampleNames.map((name) => {
    const [parameter, chosen] = name.split("=");
    const isChosen = parameter === value.name && chosen !== undefined;
    return [name, isChosen ? { value: chosen } : { value: examples[0], "x-disabled": true }];
  });
  return { ...value, schema, examples: Object.fromEntries(offered) };
}
