import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, expect, test } from "vitest";
import { type Exchange, pass } from "./exchange.ts";
import { faultKinds } from "./fault-kinds.ts";
import { startFaultyApi } from "./faulty-api.ts";

const { table } = await startFaultyApi();
afterEach(() => {
  table.handle = pass;
});
afterAll(() => table.close());
// Imported here because the client reads its endpoint from the environment.
const { call } = await import("../support/call.ts");
const { aLead } = await import("../support/requests.ts");

const inject = (kind: keyof typeof faultKinds) => (exchange: Exchange) =>
  faultKinds[kind].applies(exchange) ? faultKinds[kind].inject(exchange, Math.random) : pass(exchange);

test.each([
  "drop after",
  "server error",
  "truncate",
  "throttle",
] as const)("the SDK retries a call with the fault: %s", async (kind) => {
  const account = `once-${kind}`;
  const { id } = await aLead(account);
  let calls = 0;
  table.handle = (exchange) => (calls++ === 0 ? inject(kind)(exchange) : pass(exchange));
  const { status, body } = await call("list-leads", { account });
  expect([status, body.data.map((lead) => lead.id), body.pagination.total]).toEqual([200, [id], 1]);
  expect(calls).toBeGreaterThan(1);
});

test("a lagging index delays filtered lists only", async () => {
  const account = "behind";
  await aLead(account, { source: "web" });
  const total = async (query = "") => (await call("list-leads", { account, query })).body.pagination.total;
  expect(await total("source=web")).toBe(1);
  await setTimeout(150);
  await aLead(account, { source: "web" });
  table.handle = inject("stale index");
  expect([await total("source=web"), await total()]).toEqual([1, 2]);
  table.handle = pass;
  expect(await total("source=web")).toBe(2);
});

// These tests are last: they use up the SDK's retry quota, which refills only when calls succeed.
test.each([
  "late",
  "drop before",
  "drop after",
  "throttle",
  "server error",
  "truncate",
] as const)("every route is refused when every call of the table has the fault: %s", async (kind) => {
  // An account of its own: one that was throttled backs off for a while.
  const account = `every-call-${kind}`;
  const { id: leadId } = await aLead(account);
  table.handle = inject(kind);
  const refusals = async () => {
    const responses = await Promise.all([
      call("list-leads", { account }),
      call("list-leads", { account, query: "status=new&page=3" }),
      call("list-conversations", { account }),
      call("create-lead", { account, body: { name: "Ada" } }),
      call("send-message", { account, body: { leadId, channel: "sms", message: "Hello" } }),
    ]);
    for (const { headers } of responses) expect(headers["retry-after"]).toMatch(/^[1234]$/);
    return responses.map(({ status, problem }) => [status, problem.code]);
  };
  if (kind !== "throttle") expect(await refusals()).toEqual(Array(5).fill([503, "busy"]));
  // A throttle without a reason counts as one of the account's own data. A busy machine may call too late for it.
  else await expect.poll(refusals).toEqual(Array(5).fill([429, "too_many_at_once"]));
});
