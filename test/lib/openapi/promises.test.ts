import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import type { openApiDocument } from "../../../lib/openapi/document.ts";

// Clients are written by what is published. Within one version of the API, a change of these tables breaks them.
const document: ReturnType<typeof openApiDocument> = JSON.parse(readFileSync("docs/openapi.json", "utf8"));
const { schemas, headers, responses: sharedResponses } = document.components;

const envelope = "version id detail-type source account time region resources detail";
const problem = "type title status detail code requestId";
const event = "type version id account createdAt";

/** The fields that each object always has, and the optional ones. */
const fields: Readonly<Record<string, readonly [required: string, optional?: string]>> = {
  Lead: ["id name score status tags createdAt", "externalId email source metadata"],
  NewLead: ["", "externalId name email source tags metadata status score"],
  LeadsPage: ["data pagination"],
  Conversation: ["id leadId channel status lastMessageAt messageCount"],
  OpenedConversation: ["id leadId channel status lastMessageAt messageCount", "messages"],
  ConversationsPage: ["data pagination"],
  Message: ["id conversationId leadId channel message createdAt", "metadata"],
  NewMessage: ["leadId channel message", "metadata"],
  Pagination: ["page limit total"],
  InvalidInputProblem: [`${problem} errors`],
  InsufficientAccessProblem: [problem],
  LeadExistsProblem: [`${problem} id`],
  LeadNotFoundProblem: [problem],
  IdempotencyKeyReusedProblem: [problem],
  UnsupportedMediaTypeProblem: [`${problem} errors`],
  TooManyRequestsProblem: [problem],
  InternalErrorProblem: [problem],
  BusyProblem: [problem],
  Fault: ["in field code message"],
  GatewayError: ["message"],
  LeadCreated: [event, "externalId email source metadata imported"],
  LeadCreatedEvent: [envelope, "replay-name"],
  ConversationStarted: [`${event} leadId channel`],
  ConversationStartedEvent: [envelope, "replay-name"],
  MessageSent: [`${event} leadId conversationId channel message`, "metadata"],
  MessageSentEvent: [envelope, "replay-name"],
  LeadErased: [`${event} leadId`],
  LeadErasedEvent: [envelope, "replay-name"],
  LeadUpdated: [`${event} leadId changed lead`],
  LeadUpdatedEvent: [envelope, "replay-name"],
  ConversationUpdated: [`${event} leadId changed conversationId channel conversation`],
  ConversationUpdatedEvent: [envelope, "replay-name"],
};

test("each object has these fields, and always those that are promised", () => {
  const sorted = (names: readonly string[]) => [...names].sort();
  const found = Object.entries(schemas as Record<string, { required?: string[]; properties: object }>).map(
    ([name, { required = [], properties }]) => {
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

/** The statuses of each operation, and the part of the request that it must have. */
const operations = {
  listLeads: ["get /api/v1/leads", list, undefined],
  createLead: ["post /api/v1/leads", `200 ${write.replace("413", "409 413")}`, "NewLead"],
  listConversations: ["get /api/v1/conversations", list, undefined],
  sendMessage: ["post /api/v1/conversations", write.replace("403", "403 404"), "NewMessage"],
} as const;

const found = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ route: `${method} ${path}`, ...operation })),
);

test("each operation has its name, its statuses, and a body that is required", () => {
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

test("each operation needs an API key, and no parameter or idempotency key", () => {
  expect(document.security).toEqual([{ apiKey: [] }]);
  expect(document.components.securitySchemes.apiKey).toMatchObject({ type: "http", scheme: "bearer" });
  for (const operation of found) {
    expect(operation).not.toHaveProperty("security");
    for (const parameter of operation.parameters)
      expect(Reflect.get(parameter, "required") ?? false).toBe(false);
  }
  expect(Reflect.get(document.components.parameters.IdempotencyKey, "required") ?? false).toBe(false);
});

const common = "apigw-requestid Cache-Control Content-Encoding RateLimit RateLimit-Policy Vary";

/** The headers and the types of the bodies of each status. Functions send problems, the gateway sends JSON. */
const contents: Readonly<Record<string, readonly [headers: string, types: string]>> = {
  "200 of a list": [`${common} Link`, "application/json"],
  "200": [`${common} Idempotency-Replayed`, "application/json"],
  "201": [`${common} Idempotency-Replayed`, "application/json"],
  "400": [common, "application/problem+json"],
  "401": ["apigw-requestid", "application/json"],
  "403 of a list": ["apigw-requestid", "application/json"],
  "403": [common, "application/problem+json application/json"],
  "404": [common, "application/problem+json"],
  "409": [common, "application/problem+json"],
  "413": ["apigw-requestid", "application/json"],
  "415": [`${common} Accept-Encoding`, "application/problem+json"],
  "422": [common, "application/problem+json"],
  "429": [`${common} Retry-After`, "application/problem+json application/json"],
  "500": [common, "application/problem+json application/json"],
  "503": [`${common} Retry-After`, "application/problem+json application/json"],
};

interface DocumentedResponse {
  readonly headers: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content: object;
}

test.each(found)("each response of $operationId has its headers and types", ({ operationId, responses }) => {
  for (const [status, response] of Object.entries<object>(responses)) {
    const name = String(Reflect.get(response, "$ref") ?? "")
      .split("/")
      .at(-1);
    const { headers: sent, content } = (
      name ? Reflect.get(sharedResponses, name) : response
    ) as DocumentedResponse;
    const ofList = operationId.startsWith("list") ? `${status} of a list` : status;
    const key = ofList in contents ? ofList : status;
    const [expectedHeaders = "", types = ""] = contents[key] ?? [];
    expect([key, Object.keys(sent).sort()]).toEqual([key, expectedHeaders.split(" ").sort()]);
    expect([key, Object.keys(content).sort()]).toEqual([key, types.split(" ").sort()]);
    for (const [header, { $ref }] of Object.entries(sent))
      expect($ref.split("/").at(-1)?.toLowerCase()).toBe(
        header === "apigw-requestid" ? "requestid" : header.replaceAll("-", "").toLowerCase(),
      );
  }
});

const first = '</api/v1/leads?page=1&limit=20>; rel="first"';
const last = '</api/v1/leads?page=1&limit=20>; rel="last"';
const [prev, next] = [first.replace("first", "prev"), first.replace("first", "next")];

/** Values of each header that the API can send, and values that it never sends. */
const headerValues: Readonly<Record<keyof typeof headers, readonly [valid: unknown[], invalid: unknown[]]>> =
  {
    RequestId: [["ELcEv7R332QgMgM="], [1]],
    CacheControl: [["no-store"], ["no-cache", "max-age=60", ""]],
    Vary: [["Accept-Encoding"], ["*", "Origin", ""]],
    ContentEncoding: [["gzip"], ["br", "identity", ""]],
    RateLimitPolicy: [
      ['"account";q=1;w=1'],
      ['"account";q=0;w=60', '"account";q=1;w=0', '"account";q=1', "1"],
    ],
    RateLimit: [['"account";r=0;t=1'], ['"account";r=1;t=0', '"account";r=-1;t=1', '"account";r=1', "1"]],
    RetryAfter: [
      [1, 42],
      [0, -1, 1.5, "soon"],
    ],
    Link: [
      [`${first}, ${prev}, ${next}, ${last}`, `${first}, ${last}`, first, `${prev}, ${next}`, prev, next],
      ["", last, `${last}, ${first}`, `${first}, ${last}, x`, `${prev}, ${last}`, `${next}, ${last}`],
    ],
    AcceptEncoding: [["identity"], ["gzip", ""]],
    IdempotencyReplayed: [["true"], ["false", ""]],
  };

test.each(Object.entries(headerValues))("the header %s has the values that the API sends", (name, [
  valid,
  invalid,
]) => {
  const validate = new Ajv2020().compile(headers[name as keyof typeof headers].schema);
  expect([valid.filter((value) => !validate(value)), invalid.filter((value) => validate(value))]).toEqual([
    [],
    [],
  ]);
});

test("clients need not expect a header on every response", () => {
  expect(Object.values(headers).filter((header) => "required" in header)).toEqual([]);
});

test("each event is posted to a receiver of its own kind, which may refuse it", () => {
  for (const [type, { post }] of Object.entries(document.webhooks)) {
    expect([type, post.security, post.requestBody.required, Object.keys(post.responses)]).toEqual([
      type,
      [],
      true,
      ["204"],
    ]);
    const { schema } = post.requestBody.content["application/json"] as { schema: { $ref: string } };
    const name = schema.$ref.split("/").at(-1) ?? "";
    const { properties } = Reflect.get(schemas, name) as {
      properties: Record<string, { const?: string; $ref?: string }>;
    };
    expect(properties["detail-type"]?.const).toBe(type);
    expect(`${properties.detail?.$ref}Event`).toBe(schema.$ref);
  }
});
