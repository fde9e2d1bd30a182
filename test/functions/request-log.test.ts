import { DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import middy from "@middy/core";
import type { Context } from "aws-lambda";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { requestLog } from "../../shared/http/request-log.ts";
import type { RouteEvent } from "../../shared/http/route-event.ts";
import { call } from "../support/call.ts";
import { lambdaContext, routeEvent } from "../support/events.ts";

const table = mockClient(DynamoDBDocumentClient);
const info = vi.spyOn(console, "info").mockImplementation(() => {});
vi.spyOn(console, "error").mockImplementation(() => {});

beforeEach(() => {
  table.reset();
  info.mockClear();
});

const logged = () => info.mock.calls;

/** All that a line holds beside what the test names. */
const line = (fields: object) => [
  [{ event: "request", replayed: false, account: "acme", requestId: "request-1", ...fields }],
];

const secret = "personal@example.com";

describe("each request is logged once, as one object without anything that its caller wrote", () => {
  test("when it succeeds", async () => {
    table.on(PutCommand).resolves({});
    const body = { name: secret, email: secret, source: secret, tags: [secret] };
    const headers = { authorization: `Bearer ${secret}`, "idempotency-key": secret };
    expect((await call("create-lead", { body, headers })).status).toBe(201);
    expect(logged()).toEqual(line({ route: "create-lead", status: 201 }));
  });

  test("when it reads", async () => {
    table.on(GetCommand).resolves({}).on(QueryCommand).resolves({ Items: [], Count: 0 });
    expect((await call("list-conversations", { query: `channel=${secret}` })).status).toBe(200);
    expect(logged()).toEqual(line({ route: "list-conversations", status: 200 }));
  });

  test("when its input is invalid", async () => {
    await call("list-leads", { query: `${secret}=${secret}` });
    expect(logged()).toEqual(line({ route: "list-leads", status: 400, code: "invalid_input" }));
  });

  test("when its body is none", async () => {
    await call("create-lead", { body: secret });
    expect(logged()).toEqual(line({ route: "create-lead", status: 400, code: "invalid_input" }));
  });

  test("when it names what is not there", async () => {
    table.on(GetCommand).resolves({});
    await call("send-message", { body: { leadId: secret, channel: secret, message: secret } });
    expect(logged()).toEqual(line({ route: "send-message", status: 404, code: "lead_not_found" }));
  });

  test("when the table fails", async () => {
    table.on(GetCommand).rejects(new Error(secret)).on(QueryCommand).rejects(new Error(secret));
    await call("list-leads", { account: "globex" });
    expect(logged()).toEqual(
      line({ route: "list-leads", status: 500, code: "internal_error", account: "globex" }),
    );
  });
});

/** A handler with the log around it. */
const withLog = () => middy<RouteEvent>({ requestEnd: requestLog("create-lead") });
const run = (handler: ReturnType<typeof withLog>) =>
  handler(routeEvent("create-lead") as unknown as RouteEvent, lambdaContext() as Context);

const replay = { statusCode: 201, headers: { "idempotency-replayed": "true" }, body: "{}" };

test("An answer that is given again is marked, even if no handler ran", async () => {
  await run(withLog().handler(() => replay));
  await run(withLog().before(() => replay));
  const [expected] = line({ route: "create-lead", status: 201, replayed: true });
  expect(logged()).toEqual([expected, expected]);
});

test("What nobody answered is logged as API Gateway answers it", async () => {
  const failing = withLog().handler(() => {
    throw new Error("inside");
  });
  await expect(run(failing)).rejects.toThrow("inside");
  expect(logged()).toEqual(line({ route: "create-lead", status: 500 }));
});
