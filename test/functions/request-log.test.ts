import { DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import middy from "@middy/core";
import type { Context } from "aws-lambda";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { requestLog } from "../../shared/http/request-log.ts";
import type { RouteEvent } from "../../shared/http/route-event.ts";
import { call } from "../support/call.ts";
import { lambdaContext, routeEvent } from "../support/events.ts";
import { mockClient } from "../support/mocked-client.ts";

const table = mockClient(DynamoDBDocumentClient);
const info = vi.spyOn(console, "info").mockImplementation(() => {});
vi.spyOn(console, "error").mockImplementation(() => {});

beforeEach(() => {
  table.reset();
  info.mockClear();
});

const logged = () => info.mock.calls;

/** The logged line: these fields and the constant ones. */
const line = (fields: object) => [
  [{ event: "request", replayed: false, account: "acme", requestId: "request-1", ...fields }],
];

const secret = "personal@example.com";

describe("logs one object without the caller's text for a request that", () => {
  test("succeeds", async () => {
    table.on(PutCommand).resolves({});
    const body = { name: secret, email: secret, source: secret, tags: [secret] };
    const headers = { authorization: `Bearer ${secret}`, "idempotency-key": secret };
    expect((await call("create-lead", { body, headers })).status).toBe(201);
    expect(logged()).toEqual(line({ route: "create-lead", status: 201 }));
  });

  test("reads", async () => {
    table.on(GetCommand).resolves({}).on(QueryCommand).resolves({ Items: [], Count: 0 });
    expect((await call("list-conversations", { query: `channel=${secret}` })).status).toBe(200);
    expect(logged()).toEqual(line({ route: "list-conversations", status: 200 }));
  });

  test("has invalid input", async () => {
    await call("list-leads", { query: `${secret}=${secret}` });
    expect(logged()).toEqual(line({ route: "list-leads", status: 400, code: "invalid_input" }));
  });

  test("has an invalid body", async () => {
    await call("create-lead", { body: secret });
    expect(logged()).toEqual(line({ route: "create-lead", status: 400, code: "invalid_input" }));
  });

  test("names an unknown lead", async () => {
    table.on(GetCommand).resolves({});
    await call("send-message", { body: { leadId: secret, channel: secret, message: secret } });
    expect(logged()).toEqual(line({ route: "send-message", status: 404, code: "lead_not_found" }));
  });

  test("meets a failing table", async () => {
    table.on(GetCommand).rejects(new Error(secret)).on(QueryCommand).rejects(new Error(secret));
    await call("list-leads", { account: "globex" });
    expect(logged()).toEqual(
      line({ route: "list-leads", status: 500, code: "internal_error", account: "globex" }),
    );
  });
});

/** A handler with only the request log around it. */
const withLog = () => middy<RouteEvent>({ requestEnd: requestLog("create-lead") });
const run = (handler: ReturnType<typeof withLog>) =>
  handler(routeEvent("create-lead") as unknown as RouteEvent, lambdaContext() as Context);

const replay = { statusCode: 201, headers: { "idempotency-replayed": "true" }, body: "{}" };

test("marks a replayed response, even if no handler ran", async () => {
  await run(withLog().handler(() => replay));
  await run(withLog().before(() => replay));
  const [expected] = line({ route: "create-lead", status: 201, replayed: true });
  expect(logged()).toEqual([expected, expected]);
});

test("logs a handler that throws with the 500 that API Gateway returns", async () => {
  const failing = withLog().handler(() => {
    throw new Error("inside");
  });
  await expect(run(failing)).rejects.toThrow("inside");
  expect(logged()).toEqual(line({ route: "create-lead", status: 500 }));
});
