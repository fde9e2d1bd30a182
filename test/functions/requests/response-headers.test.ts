import { ThrottlingException } from "@aws-sdk/client-dynamodb";
import type { Request } from "@middy/core";
import { beforeEach, expect, test, vi } from "vitest";
import { activeConversationKey } from "../../../shared/dynamodb/keys.ts";
import { ApiError, type ProblemCode, problems } from "../../../shared/errors.ts";
import { requestLog } from "../../../shared/http/request-log.ts";
import type { RouteName } from "../../../shared/routes.ts";
import { routeEvent, type TestRequest } from "../../support/requests/events.ts";
import { useTable } from "../../support/tables/watched-table.ts";

// The handlers read this when they are loaded.
vi.stubEnv("RATE_LIMIT_REQUESTS", "2");
const { call } = await import("../../support/requests/call.ts");
const { conversationItem } = await import("../../../shared/domain/conversations/conversations.ts");
const { idOf, startedConversation } = await import("../../support/tables/stored.ts");

const table = useTable();
let logged = vi.spyOn(console, "error");
let info = vi.spyOn(console, "info");

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 0, 1) });
  logged = vi.spyOn(console, "error").mockImplementation(() => {});
  info = vi.spyOn(console, "info").mockImplementation(() => {});
});

const body = { name: "Ada" };
const named = { ...body, externalId: "crm-1" };
const key = { "idempotency-key": "key-1" };
const frozenAt = "2026-01-01T00:00:00.000Z";
const asText = { "content-type": "text/plain" };
const toUnknownLead = { leadId: "lead_1", channel: "web", message: "Hello" };
const [ended, other] = [idOf("conv", 1), idOf("conv", 2)];
const reopening = { query: "update=conversation", body: { id: ended, status: "active" } };
const closingAsRead = { ...reopening, body: { id: other, status: "closed", messageCount: 5 } };
const report = { id: ended, conversationId: ended, delivery: "sent" };

/** Throttles all calls, also those of the rate limiter. */
const throttle = () => {
  table.before = () => {
    throw new ThrottlingException({ message: "throttled", $metadata: {} });
  };
};

const failWith = (name: string) => () => {
  table.before = (_, call) => {
    const { pk } = (table.calls[call - 1]?.input.Key ?? {}) as { readonly pk?: string };
    if (!/^RATE#/.test(pk ?? "")) throw Object.assign(new Error("inside"), { name });
  };
};

const createOther = (account: string) =>
  call("create-lead", { account, body: { name: "Grace" }, headers: key });

const createNamed = (account: string) => call("create-lead", { account, body: named });

const createTwice = async (account: string) => {
  for (const name of ["Grace", "Edith"]) await call("create-lead", { account, body: { name }, headers: key });
};

/** Stores an ended conversation, and another of its lead and channel that is active. */
function putAnotherActive(account: string) {
  for (const row of [startedConversation(ended, { status: "closed" }), startedConversation(other)])
    table.memory.put(conversationItem(account, row));
  table.memory.put({ ...activeConversationKey(account, "lead_1", "whatsapp"), conversationId: other });
}

type Case = [number, ProblemCode | undefined, RouteName, TestRequest?, ((account: string) => unknown)?];

const cases: readonly Case[] = [
  [200, undefined, "list-leads"],
  [200, undefined, "list-conversations"],
  [201, undefined, "create-lead", { body }],
  [400, "invalid_input", "list-leads", { query: "page=0" }],
  [400, "invalid_input", "create-lead", { body: "{" }],
  [403, "insufficient_access", "create-lead", { body, access: "read" }],
  [409, "lead_exists", "create-lead", { body: named }, createNamed],
  [404, "lead_not_found", "send-message", { body: toUnknownLead }],
  [404, "conversation_not_found", "send-message", { ...reopening, body: { id: "lead_1", status: "active" } }],
  [404, "message_not_found", "send-message", { query: "update=message", body: report }],
  [409, "conversation_exists", "send-message", reopening, putAnotherActive],
  [409, "conversation_changed", "send-message", closingAsRead, putAnotherActive],
  [415, "unsupported_media_type", "create-lead", { body, headers: asText }],
  [422, "idempotency_key_reused", "create-lead", { body, headers: key }, createOther],
  [429, "rate_limited", "list-leads", {}, createTwice],
  [429, "too_many_at_once", "list-conversations", {}, throttle],
  [500, "internal_error", "list-leads", {}, failWith("ValidationException")],
  [503, "busy", "list-conversations", {}, failWith("ThrottlingException")],
  [503, "account_frozen", "create-lead", { body, frozenAt }],
  [503, "account_frozen", "send-message", { body: toUnknownLead, frozenAt }],
  [200, undefined, "list-leads", { frozenAt }],
  [403, "insufficient_access", "create-lead", { body, frozenAt, access: "read" }],
];

/** The fields that the log has of each request. */
const requestLine = { event: "request", replayed: false, requestId: "request-1", reads: 0, writes: 0 };

test("the cases cover every problem code", () => {
  const codes = cases.flatMap(([, code]) => code ?? []);
  expect(new Set(codes)).toEqual(new Set(Object.keys(problems)));
});

test.each(
  cases,
)("%i %s of %s is not cached, and is logged without the caller's text; a failure is logged with its cause", async (...args) => {
  const [status, code, route, request, prepare] = args;
  const account = `${status} ${route}`;
  await prepare?.(account);
  const response = await call(route, { account, ...request });
  expect(response.status).toBe(status);
  expect(response.headers).toMatchObject({
    "cache-control": "no-store",
    "content-type": code ? "application/problem+json" : "application/json",
    vary: "Accept-Encoding",
  });
  expect(info.mock.lastCall).toEqual([{ ...requestLine, account, route, status, ...(code && { code }) }]);
  if (!code) return expect(logged).not.toHaveBeenCalled();
  // The message of the table's error is not returned.
  expect(JSON.stringify(response)).not.toContain("inside");
  const { title } = problems[code];
  expect(response.problem).toMatchObject({ type: `urn:problem-type:${code}`, title, status, code });
  const line = { event: "request failed", code, requestId: "request-1", detail: response.problem.detail };
  const cause = expect.objectContaining({ stack: expect.stringMatching(/^ {4}at /) });
  const isFailure = status >= 500 && code !== "account_frozen";
  expect(logged.mock.calls).toEqual(isFailure ? [[{ ...line, cause }]] : []);
});

test("the type of a problem is an address on the page of errors, if the stage has such a page", async () => {
  vi.stubEnv("ERRORS_URL", "https://docs.example.com/errors");
  vi.resetModules();
  const { problemResponse } = await import("../../../shared/http/problem-responses.ts");
  const { body } = problemResponse(new ApiError("busy", "The service is busy."), "request-1");
  expect(JSON.parse(body).type).toBe("https://docs.example.com/errors#busy");
});

test("a replayed response is logged as replayed", async () => {
  await createOther("replayed");
  await createOther("replayed");
  expect(info.mock.calls).toMatchObject([[{ replayed: false }], [{ status: 201, replayed: true }]]);
});

test("a request without a response is logged with the 500 that API Gateway returns", () => {
  requestLog("create-lead")({ event: routeEvent("create-lead") } as unknown as Request);
  expect(info.mock.calls).toEqual([[{ ...requestLine, account: "acme", route: "create-lead", status: 500 }]]);
});
