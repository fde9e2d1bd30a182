import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { fullFormats } from "ajv-formats/dist/formats.js";
import { pascalCase } from "../../../lib/openapi/problem-schemas.ts";
import { eventSchemas } from "../../../shared/domain/event-schemas.ts";
import { faultCodes, faultPlaces, problems } from "../../../shared/errors.ts";
import * as conversations from "../../../shared/schemas/conversation-schemas.ts";
import * as leads from "../../../shared/schemas/lead-schemas.ts";
import { pagination } from "../../../shared/schemas/page-schemas.ts";
import { type ObjectSchema, requestOptions } from "../../../shared/schemas/validator.ts";

/**
 * The published document, with closed schemas: clients must accept unknown fields, but the tests must notice undocumented
 * fields. Only API Gateway may add fields of its own.
 */
const text = readFileSync(join(import.meta.dirname, "../../../docs/openapi.json"), "utf8");
// A part of the document is compiled by itself, and refers to the others by the name of the document.
const document = JSON.parse(text.replaceAll('"$ref": "#/', '"$ref": "document#/'));
for (const [name, schema] of Object.entries<{ additionalProperties?: boolean }>(
  document.components.schemas,
)) {
  if (name !== "GatewayError") schema.additionalProperties = false;
}

/** The schemas of the values that this version stores and sends. */
const strictSchemas: Readonly<Record<string, ObjectSchema>> = {
  Lead: leads.lead,
  LeadsPage: leads.leadsPage,
  Conversation: conversations.conversation,
  OpenedConversation: conversations.openedConversation,
  ConversationsPage: conversations.conversationsPage,
  Message: conversations.message,
  Pagination: pagination,
  ...Object.fromEntries(Object.entries(eventSchemas).map(([type, schema]) => [pascalCase(type), schema])),
};

// Clients must accept the values of a later version, but the tests must notice values that this version does not send.
const { schemas } = document.components;
for (const [name, { properties }] of Object.entries(strictSchemas)) {
  for (const [field, own] of Object.entries(properties)) {
    const documented = schemas[name].properties[field];
    const { items } = documented;
    if (!documented.$ref) Object.assign(documented, own, items?.$ref && { items });
  }
}
schemas.Fault.properties.in.enum = faultPlaces;
schemas.Fault.properties.code.enum = faultCodes;
for (const name of Object.keys(schemas).filter((name) => name.endsWith("Problem"))) {
  const { code, status } = schemas[name].properties;
  const all = Object.entries(problems).filter(([, problem]) => problem.status === status.const);
  code.enum = all.map(([code]) => code);
}

interface Route {
  readonly method: string;
  readonly path: string;
}

interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Headers of the connection or of the body's bytes, and headers that OpenAPI documents elsewhere. */
const transportHeaders = new Set([
  "connection",
  "content-length",
  "content-type",
  "date",
  "keep-alive",
  "transfer-encoding",
]);

const ajv = new Ajv2020({
  ...{ strict: false, allErrors: true },
  formats: { ...requestOptions.formats, ...fullFormats },
});
ajv.addSchema(document, "document");

/** Whether the document has a route of this method and path. */
export const isDocumented = (method: string, path: string) =>
  document.paths[path]?.[method.toLowerCase()] !== undefined;

/**
 * Checks a response against the document: its status, content type, body and every header.
 *
 * @throws Error that lists the differences
 */
export function checkResponse(route: Route, response: ApiResponse): void {
  const differences = findDifferences(route, response);
  if (differences.length === 0) return;
  const { status, body } = response;
  throw new Error(
    [
      `The response of ${route.method} ${route.path} differs from docs/openapi.json:\n`,
      ...differences.slice(0, 5).map((difference) => `  ${difference}`),
      `\n  status ${status}, body ${body.slice(0, 1000)}\n`,
      "Tests check every response of a route (test/support/requests/document.ts). If the response is right, change the schema in",
      "shared/schemas/ or the document in lib/openapi/, and run `npm run generate`.",
    ].join("\n"),
  );
}

/** The differences between a posted event and the documented webhook of its type, one line each. */
export function compareEvent(event: { readonly "detail-type"?: unknown }): string[] {
  const webhook = document.webhooks[String(event["detail-type"])];
  if (!webhook) return [`event of the undocumented type ${event["detail-type"]}`];
  const { content } = resolve(webhook.post.requestBody);
  return compareSchema(content["application/json"].schema, event, "event");
}

/** The differences between an event's detail and the documented schema of its type, one line each. */
export const compareDetail = (detail: { readonly type: string }) =>
  compareSchema(schemas[pascalCase(detail.type)], detail, "detail");

function findDifferences({ method, path }: Route, sent: ApiResponse): string[] {
  const documented = document.paths[path][method.toLowerCase()].responses[sent.status];
  if (!documented) return [`status ${sent.status} is not documented`];
  const { content, headers } = resolve(documented);
  const [type = ""] = String(sent.headers.get("content-type")).split(";");
  const differences = content[type]
    ? compareSchema(content[type].schema, JSON.parse(sent.body), "body")
    : [`content type ${type} is not documented`];
  return [...differences, ...compareHeaders(headers, sent.headers)];
}

function compareHeaders(documented: Record<string, Reference>, headers: Headers): string[] {
  const names = new Set(Object.keys(documented).map((name) => name.toLowerCase()));
  const unknown = [...headers.keys()].filter((name) => !names.has(name) && !transportHeaders.has(name));
  const differences = unknown.map((name) => `header ${name} is not documented`);
  for (const [name, header] of Object.entries(documented)) {
    const { required, schema } = resolve(header);
    const value = headers.get(name);
    if (value === null) {
      if (required) differences.push(`header ${name} is missing`);
    } else {
      const parsed = schema.type === "integer" && /^\d+$/.test(value) ? Number(value) : value;
      differences.push(...compareSchema(schema, parsed, `header ${name}`));
    }
  }
  return differences;
}

function compareSchema(schema: object, value: unknown, what: string): string[] {
  const validate = ajv.compile(schema);
  validate(value);
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${what}${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

interface Reference {
  readonly $ref?: string;
}

/** The part of the document itself, or that to which it refers. */
const resolve = (part: Reference) =>
  part.$ref
    ?.split("/")
    .slice(1)
    .reduce((value, name) => value[name], document) ?? part;
