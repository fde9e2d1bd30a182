import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { openApiDocument } from "../../../lib/openapi/document.ts";

// Clients rely on what is published. Within one version of the API, a change of these tables breaks clients.
const document: ReturnType<typeof openApiDocument> = JSON.parse(readFileSync("docs/openapi.json", "utf8"));
const { schemas } = document.components;

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
  const sorted = (names: readonly string[]) => [...names].sort();
  const found = Object.entries(schemas as Record<string, { required?: string[]; properties?: object }>).map(
    ([name, { required = [], properties = {} }]) => {
      const optional = Object.keys(properties).filter((field) => !required.includes(field));
      return [name, [sorted(required), sorted(optional)]];
    },
  );
  const words = (text = "") => sorted(text.split(" ").filter(Boolean));
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries(
      Object.entries(fields).map(([name, [required, optional]]) => [
        name,
        [words(required), words(optional)],
      ]),
    ),
  );
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
