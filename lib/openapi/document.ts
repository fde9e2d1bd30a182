import { readFileSync } from "node:fs";
import manifest from "../../package.json" with { type: "json" };
import { type Route, type RouteName, routes } from "../../shared/routes.ts";
import { schemaComponents } from "./components.ts";
import { headerComponents } from "./headers.ts";
import { operations } from "./operations.ts";
import { buildParameters, parameterComponents } from "./parameters.ts";
import { buildResponses, responseComponents } from "./responses.ts";
import { webhooks } from "./webhooks.ts";

const info = {
  title: "Leads and Conversations API",
  version: manifest.version,
  summary: "Leads of an account, and its conversations with them.",
  description: readFileSync(new URL("guides.md", import.meta.url), "utf8").trimEnd(),
  contact: { name: "The team that issued your API key" },
  license: { name: "Proprietary", identifier: "LicenseRef-Proprietary" },
};

const localRun = "http://127.0.0.1:3000";

/** Generated clients use the first server by default. */
const servers = [
  { url: localRun, description: "The local run" },
  {
    url: "{baseUrl}",
    description: "A deployment",
    variables: { baseUrl: { default: localRun, description: "The `ApiUrl` that the deployment prints." } },
  },
];

/** The OpenAPI document of the API. */
export function openApiDocument() {
  const paths: Record<string, Record<string, ReturnType<typeof operation>>> = {};
  for (const route of Object.values(routes))
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route.name, route) };
  return {
    openapi: "3.1.0",
    info,
    servers,
    tags: [
      { name: "Leads", description: "Prospects of the account." },
      { name: "Conversations", description: "Messages with a lead on a channel." },
      { name: "Events", description: "What connectors receive, to deliver messages to their channel." },
    ],
    security: [{ apiKey: [] }],
    paths,
    webhooks,
    components: {
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "lck_<id>_<secret>_<checksum>",
          description: "`Authorization: Bearer <API_KEY>`, with an API key of the account.",
        },
      },
      schemas: schemaComponents,
      parameters: parameterComponents,
      headers: headerComponents,
      responses: responseComponents,
    },
  };
}

function operation(name: RouteName, route: Route) {
  const { tag, summary, description, parameters, body, successes } = operations[name];
  return {
    operationId: operationId(name),
    tags: [tag],
    summary,
    description,
    parameters: buildParameters(name, route, parameters),
    ...(body && { requestBody: { required: true, content: { "application/json": body } } }),
    responses: buildResponses(route, successes),
  };
}

/** Converts a name such as `list-leads` to `listLeads`. */
const operationId = (name: string) => name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
