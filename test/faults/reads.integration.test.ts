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
// Imported here, for the client takes its endpoint from the environment.
const { call } = await import("../support/call.ts");
const { aLead } = await import("../support/requests.ts");

const inject = (kind: keyof typeof faultKinds) => (exchange: Exchange) =>
  faultKinds[kind].meets(exchange) ? faultKinds[kind].inject(exchange, Math.random) : pass(exchange);

test.each([
  "drop after",
  "server error",
  "truncate",
  "throttle",
] as const)("one call that meets %s is made again by the SDK", async (kind) => {
  const account = `once-${kind}`;
  const { id } = await aLead(account);
  let met = 0;
  table.handle = (exchange) => (met++ === 0 ? inject(kind)(exchange) : pass(exchange));
  const { status, body } = await call("list-leads", { account });
  expect([status, body.data.map((lead) => lead.id), body.pagination.total]).toEqual([200, [id], 1]);
  expect(met).toBeGreaterThan(1);
});

test("an index that is behind delays filtered lists, and no other", async () => {
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

// Last, for the SDK has tries to spare for some failures, and then makes none again until calls succeed.
test.each([
  "late",
  "drop before",
  "drop after",
  "throttle",
  "server error",
  "truncate",
] as const)("a table of which every call meets %s is answered for with 503 on every route", async (kind) => {
  const { id: leadId } = await aLead("every-call");
  table.handle = inject(kind);
  const responses = await Promise.all([
    call("list-leads", { account: "every-call" }),
    call("list-leads", { account: "every-call", query: "status=new&page=3" }),
    call("list-conversations", { account: "every-call" }),
    call("create-lead", { account: "every-call", body: { name: "Ada" } }),
    call("send-message", { account: "every-call", body: { leadId, channel: "sms", message: "Hello" } }, 3000),
  ]);
  for (const { status, headers, problem } of responses)
    expect([status, headers["retry-after"], problem.code]).toEqual([503, "1", "busy"]);
});
