import { readFileSync } from "node:fs";
import manifest from "../../package.json" with { type: "json" };
import { type Route, type RouteName, routes } from "../../shared/routes.ts";
import { leadBody, messageBodies, schemaComponents, toReference } from "./components.ts";
import { requestExamples, updateExamples } from "./examples.ts";
import { headerComponents } from "./headers.ts";
import { buildParameters, parameterComponents } from "./parameters.ts";
import { buildResponses, responseComponents } from "./responses.ts";
import { webhooks } from "./webhooks.ts";

/** What each route does, and what its success contains. */
const routeTexts: Record<RouteName, { tag: string; summary: string; description: string; success: string }> =
  {
    "list-leads": {
      tag: "Leads",
      summary: "List leads",
      description:
        "The account's leads, newest first unless `sort` says otherwise. Filters combine with each other and with pages.",
      success: "A page of leads.",
    },
    "create-lead": {
      tag: "Leads",
      summary: "Create or update a lead",
      description:
        "Stores a lead with the status `new` and the score 0. With `ifExists=update`, it changes the lead that the body names, if there is one, and the event `lead.updated` follows unless nothing differs. Two requests at the same moment have the effect of one after the other.",
      success: "The stored lead.",
    },
    "list-conversations": {
      tag: "Conversations",
      summary: "List conversations",
      description:
        "The account's conversations, newest first unless `sort` says otherwise. Filters combine with each other and with pages. `include=messages` opens one.",
      success: "A page of conversations.",
    },
    "send-message": {
      tag: "Conversations",
      summary: "Send or update a message",
      description:
        "Stores a message to a lead, or an inbound one from it. It joins the lead's active conversation on the channel, or starts one. With `update=message`, it stores how far a message has got; with `update=conversation`, it ends a conversation or makes it active again.",
      success: "The stored message.",
    },
  };

const info = {
  title: "Leads and Conversations API",
  version: manifest.version,
  summary: "Leads of an account, and its conversations with them.",
  description: readFileSync(new URL("guides.md", import.meta.url), "utf8").trimEnd(),
  contact: { name: "The team that issued your API key" },
  license: { name: "Proprietary", identifier: "LicenseRef-Proprietary" },
};

const localRun = "http://127.0.0.1:3000";

/** The first one is what generated clients use unless they are given another. */
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
  for (const route of Object.values(routes)) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route.name, route) };
  }
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
  const { tag, summary, description, success } = routeTexts[name];
  return {
    operationId: operationId(name),
    tags: [tag],
    summary,
    description,
    parameters: buildParameters(name, route),
    ...(route.body !== undefined && {
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: toReference(bodies[name] ?? route.body),
            examples: bodyExamples[name],
          },
        },
      },
    }),
    responses: buildResponses(name, route, success),
  };
}

/** The body of a route that takes several. */
const bodies: Partial<Record<RouteName, object>> = { "create-lead": leadBody, "send-message": messageBodies };

/** The examples of the bodies of a route, which pages to try the API offer with the query parameter that has this name. */
const bodyExamples: Partial<Record<RouteName, object>> = {
  "create-lead": {
    lead: { value: requestExamples["create-lead"] },
    "ifExists=update": { value: updateExamples.lead },
  },
  "send-message": {
    message: { value: requestExamples["send-message"] },
    "update=message": { value: updateExamples.message },
    "update=conversation": { value: updateExamples.conversation },
  },
};

/** `list-leads` is `listLeads`. */
const operationId = (name: string) => name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
