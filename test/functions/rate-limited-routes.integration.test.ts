import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

// The handlers read these when they are loaded.
process.env.RATE_LIMIT_REQUESTS = "20";
process.env.RATE_LIMIT_SECONDS = "60";
const { call } = await import("../support/call.ts");
const { table } = await import("../../shared/dynamodb/table-client.ts");

const now = Math.ceil(Date.now() / 60_000) * 60_000 + 1500;
beforeEach(() => {
  vi.useFakeTimers({ now, toFake: ["Date"] });
  // On a busy machine, a slow call must not let a request pass.
  vi.spyOn(AbortSignal, "timeout").mockReturnValue(new AbortController().signal);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const routes = ["list-leads", "create-lead", "list-conversations", "send-message"] as const;
const bodies = {
  "create-lead": { name: "Ada" },
  "send-message": { leadId: "lead_1", channel: "whatsapp", message: "Hello" },
} as Record<string, object>;

const request = (account: string, name: (typeof routes)[number]) =>
  call(name, { account, body: bodies[name] });

async function useUp(account: string): Promise<void> {
  for (const name of routes) {
    for (let n = 0; n < 20; n++) if ((await request(account, name)).status === 429) break;
  }
}

test("every response has the standard rate-limit headers", async () => {
  const { headers } = await request("fields", "list-leads");
  expect(headers).toMatchObject({
    "ratelimit-policy": '"account";q=20;w=60',
    ratelimit: '"account";r=19;t=59',
  });
  const missing = await request("fields", "send-message");
  expect([missing.status, missing.headers.ratelimit]).toEqual([
    404,
    expect.stringMatching(/^"account";r=1\d;t=59$/),
  ]);
  const invalid = await call("create-lead", { account: "fields", body: { name: 5 } });
  expect([invalid.status, invalid.headers.ratelimit]).toEqual([400, expect.stringMatching(/;t=59$/)]);
});

test("an account with a limit of its own has it in the headers and in the problem", async () => {
  const own = (name: (typeof routes)[number]) =>
    call(name, { account: "own", rateLimitRequests: 2, body: bodies[name] });
  const statuses = [];
  for (const name of routes) statuses.push((await own(name)).status);
  expect(statuses).toEqual([200, 201, 429, 429]);
  const { headers, problem } = await own("create-lead");
  expect(headers).toMatchObject({
    "ratelimit-policy": '"account";q=2;w=60',
    ratelimit: '"account";r=0;t=59',
  });
  expect(problem.detail).toBe("This account may make 2 requests in 60 seconds. Try again in 59 s.");
});

describe("over the limit", () => {
  test("a read key's refused writes count, and get 429 like all others", async () => {
    const write = () => call("create-lead", { account: "reader", access: "read", body: { name: "Ada" } });
    expect(await write()).toMatchObject({ status: 403, headers: { ratelimit: '"account";r=19;t=59' } });
    const statuses = [];
    for (let n = 0; n < 20; n++) statuses.push((await write()).status);
    expect(statuses).toEqual([...Array(19).fill(403), 429]);
  });

  test.each(routes)("%s returns 429 with Retry-After", async (name) => {
    const account = `past-${name}`;
    await useUp(account);
    const { status, headers, problem } = await request(account, name);
    expect(status).toBe(429);
    expect(headers).toMatchObject({
      "content-type": "application/problem+json",
      "retry-after": "59",
      ratelimit: '"account";r=0;t=59',
    });
    expect(problem).toMatchObject({ status: 429, code: "rate_limited", requestId: "request-1" });
    expect(problem.detail).toBe("This account may make 20 requests in 60 seconds. Try again in 59 s.");
  });

  test.each(routes)("%s neither reads nor writes", async (name) => {
    const account = `idle-${name}`;
    await useUp(account);
    const send = vi.spyOn(table, "send");
    expect((await request(account, name)).status).toBe(429);
    expect(send).not.toHaveBeenCalled();
  });

  test("an invalid request gets 429 too, without a call of the table", async () => {
    await useUp("nothing");
    const send = vi.spyOn(table, "send");
    expect((await call("create-lead", { account: "nothing", body: "{" })).status).toBe(429);
    expect(send).not.toHaveBeenCalled();
  });

  test("the request log holds the 429, for the metric that counts it", async () => {
    await useUp("logged");
    const info = vi.spyOn(console, "info").mockImplementation(() => {});
    await request("logged", "list-leads");
    await call("create-lead", { account: "logged", body: "{" });
    expect(info.mock.calls).toMatchObject([
      [{ route: "list-leads", status: 429, code: "rate_limited" }],
      [{ route: "create-lead", status: 429, code: "rate_limited" }],
    ]);
  });

  test("another account is not limited", async () => {
    await useUp("loud");
    expect((await request("calm", "create-lead")).status).toBe(201);
  });

  test("only the requests within the limit take effect", async () => {
    const responses = await Promise.all(Array.from({ length: 50 }, () => request("exact", "create-lead")));
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(20);
    vi.setSystemTime(now + 60_000);
    expect((await call("list-leads", { account: "exact" })).body.pagination.total).toBe(20);
  });
});

test.each(routes)("%s returns 429 with a short Retry-After while its account is throttled", async (name) => {
  const { requestHandler } = table.config;
  const { handle } = requestHandler;
  const throttle = JSON.stringify({
    __type: "com.amazonaws.dynamodb.v20120810#ThrottlingException",
    throttlingReasons: [{ reason: "TableWriteKeyRangeThroughputExceeded" }],
  });
  vi.spyOn(requestHandler, "handle").mockImplementation(((...args: Parameters<typeof handle>) =>
    new TextDecoder().decode(args[0].body).includes("RATE#")
      ? { response: { statusCode: 400, headers: {}, body: Readable.from([Buffer.from(throttle)]) } }
      : Reflect.apply(handle, requestHandler, args)) as never);
  const { status, headers, problem } = await request(`throttled-${name}`, name);
  expect([status, problem.code]).toEqual([429, "rate_limited"]);
  expect(headers["retry-after"]).toMatch(/^[12]$/);
  expect(headers.ratelimit).toBe(`"account";r=0;t=${headers["retry-after"]}`);
});

test("a list that finds no permit left by another environment gets 429 after its reads", async () => {
  await useUp("elsewhere");
  vi.resetModules();
  const elsewhere = await import("../support/call.ts");
  const { status, headers, problem } = await elsewhere.call("list-leads", { account: "elsewhere" });
  expect([status, headers["retry-after"], problem.code]).toEqual([429, "59", "rate_limited"]);
});

test("a list reads while it takes its permit; a write waits for its permit", async () => {
  const order: string[] = [];
  table.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const name = commandName === "UpdateItemCommand" ? "permit" : "data";
        order.push(`${name} begins`);
        const result = await next(args);
        order.push(`${name} ends`);
        return result;
      },
    { step: "initialize" },
  );
  await request("order-read", "list-leads");
  expect(order.slice(0, 2)).toEqual(["permit begins", "data begins"]);
  order.length = 0;
  await request("order-write", "create-lead");
  expect(order).toEqual(["permit begins", "permit ends", "data begins", "data ends"]);
});
