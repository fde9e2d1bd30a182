import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, test, vi } from "vitest";
import type { RouteName } from "../../../shared/routes.ts";
import { useTable } from "../../support/tables/watched-table.ts";

// The handlers read this when they are loaded.
vi.stubEnv("RATE_LIMIT_REQUESTS", "2");
const { call } = await import("../../support/requests/call.ts");
const { rateWindowKey } = await import("../../../shared/dynamodb/keys.ts");

const start = Date.UTC(2026, 0, 1);
const watched = useTable();

beforeEach(() => {
  vi.useFakeTimers({ now: start + 1500, toFake: ["Date"] });
  vi.spyOn(console, "info").mockImplementation(() => {});
  // On a busy machine, a slow call must not let a request pass.
  vi.spyOn(AbortSignal, "timeout").mockReturnValue(new AbortController().signal);
});

const bodies: Partial<Record<RouteName, object>> = {
  "create-lead": { name: "Ada" },
  "send-message": { leadId: "lead_1", channel: "whatsapp", message: "Hello" },
};
const routes: readonly RouteName[] = ["list-leads", "create-lead", "list-conversations", "send-message"];

const request = (account: string, name: RouteName) => call(name, { account, body: bodies[name] });

test("the headers and the problem show the limit of an account that has its own", async () => {
  const own = (name: RouteName) => call(name, { account: "own", rateLimitRequests: 3, body: bodies[name] });
  const statuses = [];
  for (const name of routes) statuses.push((await own(name)).status);
  expect(statuses).toEqual([200, 201, 200, 429]);
  const { headers, problem } = await own("create-lead");
  expect(headers).toMatchObject({
    "ratelimit-policy": '"account";q=3;w=60',
    ratelimit: '"account";r=0;t=59',
  });
  expect(problem.detail).toBe("This account may make 3 requests in 60 seconds. Try again in 59 s.");
});

test.each(
  routes,
)("over the limit, %s returns 429 with Retry-After, makes no call, and is logged", async (name) => {
  const account = `past-${name}`;
  for (let n = 0; n < 2; n++) expect((await request(account, name)).status).not.toBe(429);
  vi.mocked(console.info).mockClear();
  // An invalid request gets the same response.
  for (const body of [bodies[name], "{"]) {
    const { result, calls } = await watched.watch(() => call(name, { account, body }));
    expect([result.status, calls]).toEqual([429, []]);
    expect(result.headers).toMatchObject({ "retry-after": "59", ratelimit: '"account";r=0;t=59' });
    const detail = "This account may make 2 requests in 60 seconds. Try again in 59 s.";
    expect(result.problem).toMatchObject({ code: "rate_limited", requestId: "request-1", detail });
  }
  const line = { route: name, status: 429, code: "rate_limited", account };
  expect(vi.mocked(console.info).mock.calls).toMatchObject([[line], [line]]);
});

test("the refused writes of a read-only key count as requests, and then get 429", async () => {
  const write = () => call("create-lead", { account: "reader", access: "read", body: { name: "Ada" } });
  const statuses = [(await write()).status, (await write()).status, (await write()).status];
  expect(statuses).toEqual([403, 403, 429]);
});

test.each(
  routes,
)("%s returns 429 if other environments have used up the limit, and a write writes nothing", async (name) => {
  const window = rateWindowKey("elsewhere", start / 1000);
  watched.memory.put({ ...window, used: 2 });
  const { result, calls } = await watched.watch(() => request("elsewhere", name));
  expect([result.status, result.headers["retry-after"]]).toEqual([429, "59"]);
  expect(result.problem.code).toBe("rate_limited");
  if (bodies[name]) expect(calls.map((call) => call.name)).toEqual(["UpdateCommand"]);
  // In the next window, requests are granted again.
  watched.memory.put({ ...window, used: 0 });
  vi.setSystemTime(start + 60_000);
  expect((await request("elsewhere", "list-leads")).status).toBe(200);
});

test("a list reads while it takes its permit; a write waits for its permit", async () => {
  const order: string[] = [];
  watched.before = async (command) => {
    const isPermit = command instanceof UpdateCommand;
    order.push(isPermit ? "permit begins" : "data");
    if (!isPermit) return;
    await new Promise(setImmediate);
    order.push("permit ends");
  };
  await request("order", "list-leads");
  expect(order.slice(0, 2)).toEqual(["permit begins", "data"]);
  expect(order).toContain("permit ends");
  order.length = 0;
  await request("order-write", "create-lead");
  expect(order).toEqual(["permit begins", "permit ends", "data"]);
});
