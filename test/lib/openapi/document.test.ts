import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { expect, test } from "vitest";
import type { openApiDocument } from "../../../lib/openapi/document.ts";

interface Property {
  readonly type?: string | readonly string[];
  readonly $ref?: string;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly additionalProperties?: { readonly type?: unknown; readonly items?: { readonly type?: unknown } };
}

interface Schema {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Property>>;
  readonly additionalProperties?: boolean;
}

const file = join(import.meta.dirname, "../../../docs/openapi.json");
const source = await readFile(file, "utf8");
const document: ReturnType<typeof openApiDocument> = JSON.parse(source);
const { components } = JSON.parse(source);
const schemas = Object.entries<Schema>(components.schemas);
const properties = schemas.flatMap(([name, schema]) =>
  Object.entries(schema.properties ?? {}).map(([field, property]) => ({
    place: `${name}.${field}`,
    property,
  })),
);

test("the document is in ASCII", () => {
  expect(source).toMatch(/^[ -~\n]+$/);
});

test("the document passes the linter, including its examples", async () => {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const problems = await lintFromString({ source, absoluteRef: file, config });
  expect(
    problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`),
  ).toEqual([]);
});

test("each property has a type, a description and an example, or is another schema", () => {
  const incomplete = properties.filter(
    ({ property: { $ref, type, description, examples } }) =>
      $ref === undefined && !(type && description && examples?.length === 1),
  );
  expect(incomplete).toEqual([]);
  expect(properties.length).toBeGreaterThan(100);
});

test("every schema has a name, except maps of texts or of lists of texts, so that no generator has to invent a name", () => {
  expect(source.match(/"(?:allOf|anyOf|oneOf)"/g)).toEqual(['"oneOf"']);
  const messageBodies = ["NewMessage", "MessageUpdate", "ConversationUpdate"];
  expect(components.schemas.MessageBody.oneOf).toEqual(
    messageBodies.map((name) => ({ $ref: `#/components/schemas/${name}` })),
  );
  const unnamed = properties.filter(({ property }) => String(property.type).includes("object"));
  expect(unnamed.length).toBeGreaterThan(3);
  for (const { property } of unnamed) {
    expect(property).not.toHaveProperty("properties");
    const { type, items = { type } } = property.additionalProperties ?? {};
    expect(["string", "string,null"]).toContain(String(items.type));
  }
});

const bodies = ["NewLead", "NewTemplate", "NewMessage", "MessageUpdate", "ConversationUpdate"];

test("bodies of requests are closed; responses and events are open to new fields", () => {
  const closed = schemas.filter(([, schema]) => schema.additionalProperties === false);
  expect(closed.map(([name]) => name)).toEqual(bodies);
  expect(source.match(/"additionalProperties": (?!\{)/g)).toHaveLength(closed.length);
});

test("what clients receive has no limits that a later version may raise, and no closed list of faults", () => {
  const received = schemas.filter(([name]) => !bodies.includes(name));
  expect(JSON.stringify(received)).not.toMatch(/"(?:max\w+|minLength|minItems|propertyNames)":/);
  for (const name of ["in", "code"])
    expect(components.schemas.Fault.properties[name]).not.toHaveProperty("enum");
});

// Clients rely on what is published. Within one version of the API, a change of these tables breaks clients.
const envelope = "version id detail-type source account time region resources detail";
const problem = "type title status detail code requestId";
const event = "type version id account createdAt";
const conversation = "id leadId channel status createdAt lastMessageAt messageCount lastMessage";
const waiting = "lastInboundAt awaitingReplySince";
const report = "delivery deliveryError providerId";
const message = [`${event} leadId conversationId channel direction message`, "metadata"] as const;

/** The fields that each object always has, and the optional ones. */
const fields: Readonly<Record<string, readonly [required: string, optional?: string]>> = {
  Lead: ["id name score status tags createdAt updatedAt", "externalId email source addresses metadata"],
  NewLead: ["", "id externalId addresses name email source tags metadata status score"],
  LeadsPage: ["data pagination"],
  Conversation: [conversation, waiting],
  OpenedConversation: [conversation, `${waiting} messages`],
  LastMessage: ["direction text"],
  ConversationsPage: ["data pagination"],
  Message: ["id conversationId leadId channel direction message createdAt", `to template metadata ${report}`],
  NewMessage: ["leadId channel message", "direction template metadata"],
  NewTemplate: ["name language", "parameters"],
  Template: ["name language", "parameters"],
  MessageUpdate: ["id conversationId delivery", "deliveryError providerId"],
  ConversationUpdate: ["id status", "messageCount"],
  MessageBody: [""],
  UpdatedRecord: [
    "id leadId channel createdAt",
    `conversationId direction to message template metadata ${report} status lastMessageAt messageCount lastMessage ${waiting}`,
  ],
  Pagination: ["page limit total"],
  InvalidInputProblem: [`${problem} errors`],
  InsufficientAccessProblem: [problem],
  ConflictProblem: [`${problem} id`],
  NotFoundProblem: [problem],
  IdempotencyKeyReusedProblem: [problem],
  UnsupportedMediaTypeProblem: [`${problem} errors`],
  TooManyRequestsProblem: [problem],
  InternalErrorProblem: [problem],
  UnavailableProblem: [problem],
  Fault: ["in field code message"],
  GatewayError: ["message"],
  LeadCreated: [event, "externalId email source addresses metadata imported importId"],
  LeadCreatedEvent: [envelope, "replay-name"],
  ConversationStarted: [`${event} leadId channel`],
  ConversationStartedEvent: [envelope, "replay-name"],
  MessageSent: [message[0], "delivery template metadata to"],
  MessageSentEvent: [envelope, "replay-name"],
  MessageReceived: message,
  MessageReceivedEvent: [envelope, "replay-name"],
  LeadErased: [`${event} leadId`],
  LeadErasedEvent: [envelope, "replay-name"],
  LeadUpdated: [`${event} leadId changed lead`],
  LeadUpdatedEvent: [envelope, "replay-name"],
  ConversationUpdated: [`${event} leadId changed conversationId channel conversation`],
  ConversationUpdatedEvent: [envelope, "replay-name"],
  MessageUpdated: [`${event} leadId changed conversationId messageId channel message`],
  MessageUpdatedEvent: [envelope, "replay-name"],
};

test("each object has exactly these fields, and the promised ones are required", () => {
  const found = schemas.map(([name, { required = [], properties = {} }]) => {
    const optional = Object.keys(properties).filter((field) => !required.includes(field));
    return [name, [new Set(required), new Set(optional)]];
  });
  const words = (text = "") => new Set(text.split(" ").filter(Boolean));
  const promised = Object.entries(fields).map(([name, [required, optional]]) => [
    name,
    [words(required), words(optional)],
  ]);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(promised));
});

const list = "200 400 401 403 413 429 500 503";
const write = "201 400 401 403 413 415 422 429 500 503";

/** The route and the statuses of each operation, and the schema of its required body. */
const operations = {
  listLeads: ["get /api/v1/leads", list, undefined],
  createLead: ["post /api/v1/leads", `200 ${write.replace("413", "404 409 413")}`, "NewLead"],
  listConversations: ["get /api/v1/conversations", list, undefined],
  sendMessage: ["post /api/v1/conversations", `200 ${write.replace("403", "403 404 409")}`, "MessageBody"],
} as const;

const found = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ route: `${method} ${path}`, ...operation })),
);

test("each operation keeps its name, its statuses and its required body", () => {
  expect(
    Object.fromEntries(
      found.map(({ operationId, route, responses, requestBody }) => {
        const schema = requestBody?.content["application/json"].schema as { $ref: string } | undefined;
        if (requestBody) expect([operationId, requestBody.required]).toEqual([operationId, true]);
        return [operationId, [route, Object.keys(responses).join(" "), schema?.$ref.split("/").at(-1)]];
      }),
    ),
  ).toEqual(operations);
});

test("each operation requires an API key, but no parameter and no idempotency key", () => {
  expect(document.security).toEqual([{ apiKey: [] }]);
  expect(document.components.securitySchemes.apiKey).toMatchObject({ type: "http", scheme: "bearer" });
  for (const operation of found) {
    expect(operation).not.toHaveProperty("security");
    for (const parameter of operation.parameters)
      expect(Reflect.get(parameter, "required") ?? false).toBe(false);
  }
  expect(Reflect.get(document.components.parameters.IdempotencyKey, "required") ?? false).toBe(false);
});
