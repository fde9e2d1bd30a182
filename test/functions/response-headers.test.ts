import { ThrottlingException } from "@aws-sdk/client-dynamodb";
import middy from "@middy/core";
import { beforeEach, expect, test, vi } from "vitest";
import { ApiError, type ProblemCode, problems } from "../../shared/errors.ts";
import { requestLog } from "../../shared/http/request-log.ts";
import type { RouteEvent } from "../../shared/http/route-event.ts";
import type { RouteName } from "../../shared/routes.ts";
import { lambdaContext, routeEvent, type TestRequest } from "../support/events.ts";
import { WatchedTable } from "../support/watched-table.ts";

// The handlers read these when they are loaded.
vi.stubEnv("RATE_LIMIT_REQUESTS", "2");
vi.stubEnv("RATE_LIMIT_SECONDS", "60");
const { call } = await import("../support/call.ts");

let table: WatchedTable;
let logged = vi.spyOn(console, "error");
let info = vi.spyOn(console, "info");

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 0, 1) });
  logged = vi.spyOn(console, "error").mockImplementation(() => {});
  info = vi.spyOn(console, "info").mockImplementation(() => {});
  table = new WatchedTable();
});

const body = { name: "Ada" };
const key = { "idempotency-key": "key-1" };
const asText = { "content-type": "text/plain" };
const toUnknownLead = { leadId: "lead_1", channel: "web", message: "Hello" };

/** Lets all calls fail but those of the rate limiter. */
const throttle = () => {
  table.before = () => {
    throw new ThrottlingException({ message: "throttled", $metadata: {} });
  };
};

const failWith = (name: string) => () => {
  table.before = (_, call) => {
    const { pk } = (table.calls[call - 1]?.input.Key ?? {}) as { readonly pk?: string };
    if (!/^(RATE|LIMIT)#/.test(pk ?? "")) throw Object.assign(new Error("inside"), { name });
  };
};

const createOther = (account: string) =>
  call("create-lead", { account, body: { name: "Grace" }, headers: key });

const createTwice = async (account: string) => {
  for (const name of ["Grace", "Edith"]) await call("create-lead", { account, body: { name }, headers: key });
};

interface Case {
  readonly status: number;
  readonly code?: ProblemCode;
  readonly route: RouteName;
  readonly request?: TestRequest;
  readonly prepare?: (account: string) => unknown;
}

const cases: readonly Case[] = [
  { status: 200, route: "list-leads" },
  { status: 200, route: "list-conversations" },
  { status: 201, route: "create-lead", request: { body } },
  { status: 400, code: "invalid_input", route: "list-leads", request: { query: "page=0" } },
  { status: 400, code: "invalid_input", route: "create-lead", request: { body: "{" } },
  { status: 403, code: "insufficient_access", route: "create-lead", request: { body, access: "read" } },
  {
    status: 409,
    code: "lead_exists",
    route: "create-lead",
    request: { body: { name: "Ada", externalId: "crm-1" } },
    prepare: (account) => call("create-lead", { account, body: { name: "Grace", externalId: "crm-1" } }),
  },
  { status: 404, code: "lead_not_found", route: "send-message", request: { body: toUnknownLead } },
  { status: 415, code: "unsupported_media_type", route: "create-lead", request: { body, headers: asText } },
  {
    status: 422,
    code: "idempotency_key_reused",
    route: "create-lead",
    request: { body, headers: key },
    prepare: createOther,
  },
  { status: 429, code: "rate_limited", route: "list-leads", prepare: createTwice },
  { status: 429, code: "too_many_at_once", route: "list-conversations", prepare: throttle },
  { status: 500, code: "internal_error", route: "list-leads", prepare: failWith("ValidationException") },
  { status: 503, code: "busy", route: "list-conversations", prepare: failWith("ThrottlingException") },
];

test("the cases have every problem", () => {
  const codes = cases.flatMap(({ code }) => code ?? []);
  expect(new Set(codes)).toEqual(new Set(Object.keys(problems)));
});

test.each(
  cases,
)("$status $code of $route is not cached, logged without the caller's text, and a failure with its cause", async ({
  status,
  code,
  route,
  request,
  prepare,
}) => {
  const account = `${status} ${route}`;
  await prepare?.(account);
  const response = await call(route, { account, ...request });
  expect(response.status).toBe(status);
  expect(response.headers).toMatchObject({
    "cache-control": "no-store",
    "content-type": code ? "application/problem+json" : "application/json",
    vary: "Accept-Encoding",
  });
  const common = { event: "request", replayed: false, account, requestId: "request-1", reads: 0, writes: 0 };
  expect(info.mock.lastCall).toEqual([{ ...common, route, status, ...(code && { code }) }]);
  if (!code) return expect(logged).not.toHaveBeenCalled();
  // What the table's error says stays inside.
  expect(JSON.stringify(response)).not.toContain("inside");
  const { title } = problems[code];
  expect(response.problem).toMatchObject({ type: `urn:problem-type:${code}`, title, status, code });
  const line = { event: "request failed", code, requestId: "request-1", detail: response.problem.detail };
  const cause = expect.objectContaining({ stack: expect.stringMatching(/^ {4}at /) });
  expect(logged.mock.calls).toEqual(status >= 500 ? [[{ ...line, cause }]] : []);
});

test("the type of a problem is an address on the page of errors, if the stage names one", async () => {
  vi.stubEnv("ERRORS_URL", "https://docs.example.com/errors");
  vi.resetModules();
  const { problemResponse } = await import("../../shared/http/problem-responses.ts");
  const { body } = problemResponse(new ApiError("busy", "The service is busy."), "request-1");
  expect(JSON.parse(body).type).toBe("https://docs.example.com/errors#busy");
});

test("a replayed response is logged as one", async () => {
  await createOther("replayed");
  await createOther("replayed");
  expect(info.mock.calls).toMatchObject([[{ replayed: false }], [{ status: 201, replayed: true }]]);
});

test("a handler that throws is logged with the 500 that API Gateway returns", async () => {
  const failing = middy<RouteEvent>({ requestEnd: requestLog("create-lead") }).handler(() => {
    throw new Error("inside");
  });
  const event = routeEvent("create-lead") as unknown as RouteEvent;
  await expect(failing(event, lambdaContext())).rejects.toThrow("inside");
  const common = {
    event: "request",
    replayed: false,
    account: "acme",
    requestId: "request-1",
    reads: 0,
    writes: 0,
  };
  expect(info.mock.calls).toEqual([[{ ...common, route: "create-lead", status: 500 }]]);
});
