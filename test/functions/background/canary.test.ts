import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { GetParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import type { DynamoDBRecord } from "aws-lambda";
import { beforeEach, expect, test, vi } from "vitest";
import { handler as maintain } from "../../../functions/maintain-counts.ts";
import { toEvents } from "../../../shared/domain/events.ts";
import { accountPartition, readPartition } from "../../../shared/dynamodb/keys.ts";
import { routes } from "../../../shared/routes.ts";
import { sum } from "../../support/cases/statistics.ts";
import { stopClock } from "../../support/cases/virtual-time.ts";
import type { MemoryTable } from "../../support/memory-table/memory-table.ts";
import { lambdaContext, routeEvent } from "../../support/requests/events.ts";
import { mockClient } from "../../support/tables/mocked-client.ts";
import { WatchedTable } from "../../support/tables/watched-table.ts";

// The functions read these when they are loaded.
vi.stubEnv("API_URL", "https://api.example.com/");
vi.stubEnv("KEY_PARAMETER", "/stage/canary-key");
vi.stubEnv("RATE_LIMIT_REQUESTS", "6000");
const { handler: run } = await import("../../../functions/canary.ts");
const { invokeHandler } = await import("../../support/requests/call.ts");

const parameters = mockClient(SSMClient);

let requests: Request[];
/** Responds to a request of the canary. */
let respond: (request: Request) => Response | Promise<Response>;

/** The API. */
async function serve(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const route = Object.values(routes).find((one) => one.method === request.method && one.path === pathname);
  if (!route) return new Response("{}", { status: 404 });
  const headers = { ...Object.fromEntries(request.headers), "accept-encoding": "identity" };
  const sent = { account, query: search.slice(1), headers, body: (await request.text()) || undefined };
  const response = await invokeHandler(route.name, routeEvent(route.name, sent));
  return new Response(response.body, {
    status: response.statusCode,
    headers: new Headers(response.headers as never),
  });
}

/** The kind of a request: its method, its path and the parameter that matters. */
const nameOf = ({ method, url, headers }: Request) =>
  `${method} ${url.replace(/^https:..api.example.com|(?<=ifExists|awaitingReply|[?]id|[?]created\w+)=.*/g, "")}${method === "POST" && !headers.has("idempotency-key") ? " without a key" : ""}`;

/** The table, and the changes that its stream has not delivered yet. */
const changes: DynamoDBRecord[] = [];
let table: WatchedTable;
let memory: MemoryTable;
/** The account of the canary's key. */
let account: string;

beforeEach(() => {
  account = "canary";
  requests = [];
  respond = serve;
  vi.spyOn(globalThis, "fetch").mockImplementation(async (...sent) => {
    const request = new Request(...sent);
    requests.push(request);
    // As on a real machine, no two requests arrive in the same millisecond.
    vi.setSystemTime(Date.now() + 1);
    return respond(request);
  });
  vi.spyOn(console, "info").mockImplementation(() => {});
  stopClock(Date.UTC(2026, 10, 21));
  changes.length = 0;
  table = new WatchedTable(changes);
  ({ memory } = table);
  storeKey("lck_key");
});

/** Delivers all changes of the stream to the maintainer. @returns the types of their events */
async function deliver(): Promise<string[]> {
  vi.setSystemTime(Date.now() + 2000);
  const records = changes.splice(0);
  expect(await maintain({ Records: records }, lambdaContext(60_000))).toEqual({ batchItemFailures: [] });
  return toEvents(records).map(({ type }) => type);
}

const untilNextRun = () => vi.setSystemTime(Math.ceil((Date.now() + 1) / 300_000) * 300_000);

/** The items of the table, by their type. */
const stored = () => Map.groupBy(memory.items(), ({ pk }) => readPartition(String(pk))?.type);

/** The rows of a list of the account `canary`, newest first. */
const rowsOf = (type: "lead" | "conversation") =>
  [...memory.items()].filter(({ pk }) => pk === accountPartition(type, "canary")).reverse();

function storeKey(value: string | undefined) {
  parameters.reset();
  parameters
    .on(GetParameterCommand, { Name: "/stage/canary-key", WithDecryption: true })
    .resolves({ Parameter: { ...(value !== undefined && { Value: value }) } });
}

/** Expects a run to fail. @returns the code of the cause that it logs, or else the name of the cause */
async function failure(): Promise<string> {
  const error = vi.spyOn(console, "error").mockImplementation(() => {});
  await expect(run()).rejects.toThrow("The function failed.");
  const [{ event, cause }] = error.mock.lastCall ?? [];
  expect(event).toBe("function failed");
  return typeof cause.code === "string" ? cause.code : cause.name;
}

const [leads, conversations] = ["/api/v1/leads", "/api/v1/conversations"];
const [create, update] = [`POST ${leads}`, `POST ${leads}?ifExists without a key`];
const [send, answer] = [`POST ${conversations}`, `POST ${conversations} without a key`];
const [findLeads, findConversation] = [`GET ${leads}?id`, `GET ${conversations}?id`];
const report = `POST ${conversations}?update=message without a key`;
const end = `POST ${conversations}?update=conversation without a key`;
const ok = (body: object) => Response.json(body);
const made = (body: object, headers = {}) => Response.json(body, { status: 201, headers });
const replayed = { "idempotency-replayed": "true" };
const page = (data: object[], total = data.length) => ok({ data, pagination: { total } });
const found = () => page([{ id: "another" }]);

/** Makes runs, and counts the changes of each before the next one. */
async function runs(count: number): Promise<void> {
  for (let times = 0; times < count; times++) {
    await run();
    await deliver();
    untilNextRun();
  }
}

let aged: { readonly items: ReturnType<MemoryTable["snapshot"]>; readonly now: number } | undefined;

/** Makes so many runs that there are more leads and conversations than a run compares, and than the roots count. */
async function manyRuns(): Promise<void> {
  if (!aged) {
    await runs(110);
    aged = { items: memory.snapshot(), now: Date.now() };
  }
  memory.restore(aged.items);
  vi.setSystemTime(aged.now);
}

test("each run uses every route with the key, and makes new writes", async () => {
  for (let times = 0; times < 2; times++) {
    await run();
    untilNextRun();
  }
  const lists = [leads, conversations].map((path) => [
    `GET ${path}?createdBefore`,
    `GET ${path}?createdAfter`,
  ]);
  const ofLeads = [create, create, update, update, findLeads];
  const waiting = `GET ${conversations}?awaitingReply`;
  const kinds = [...lists.flat(), ...ofLeads, send, report, answer, waiting, findConversation, end];
  expect(requests.map(nameOf)).toEqual([...kinds, ...kinds]);
  for (const { headers } of requests) expect(headers.get("authorization")).toBe("Bearer lck_key");
  const keys = requests.map(({ headers }) => headers.get("idempotency-key")).filter(Boolean);
  expect(keys).toEqual(keys.map(() => expect.stringMatching(/^canary-.{36}$/)));
  expect(new Set(keys).size).toBe(2);
  const posts = requests.filter(({ method }) => method === "POST");
  expect(posts.map(({ headers }) => headers.get("content-type"))).toEqual(Array(16).fill("application/json"));
});

test.each<[string, string, (body: object) => Response, number?]>([
  ["POST /api/v1/leads returned 403", create, () => Response.json({ message: "No" }, { status: 403 })],
  ["POST /api/v1/leads returned 200", create, ok],
  ["POST /api/v1/leads returned 201 without data", create, () => made({})],
  ["The repeated request was not a replay", create, made, 2],
  ["The repeated request returned another lead", create, () => made({ id: "another" }, replayed), 2],
  ["POST /api/v1/leads without a key returned 201", update, made, 2],
  ["The update changed another lead", update, (body) => ok({ ...body, id: "another" }), 2],
  ["The update changed nothing", update, (body) => ok({ ...body, status: "new" }), 2],
  ["The leads were not found", findLeads, found],
  ["The leads were not found", findLeads, (body) => ok({ data: Array(2).fill(Object(body).data[0]) })],
  ["The total of leads was wrong", `GET ${leads}?createdAfter`, () => page([], 1)],
  ["The total of conversations was wrong", `GET ${conversations}?createdAfter`, () => page([], 1)],
  ["The report of the delivery changed nothing", report, (body) => ok({ ...body, delivery: "sent" })],
  ["The answer started another conversation", answer, (body) => made({ ...body, conversationId: "another" })],
  ["The conversation was not found", findConversation, found],
  [
    "The conversation did not have both messages",
    findConversation,
    (body) => ok({ data: [{ ...Object(body).data[0], messageCount: 1 }] }),
  ],
  ["The conversation did not end", end, (body) => ok({ ...body, status: "active" })],
])("a run fails, and logs: %s", async (code, kind, answer, nth = 1) => {
  respond = async (sent) => {
    const real = await serve(sent);
    const isOther = nameOf(sent) === kind && requests.filter((one) => nameOf(one) === kind).length === nth;
    return isOther ? answer(Object(await real.json())) : real;
  };
  expect(await failure()).toBe(code);
});

test("a run follows no redirect: its key must not go to another address", async () => {
  respond = ({ redirect }) => new Response("", { status: redirect === "manual" ? 302 : 500 });
  expect(await failure()).toBe("GET /api/v1/leads returned 302");
});

test("a run waits eight seconds for a response", async () => {
  const { timeout } = AbortSignal;
  const limit = vi.spyOn(AbortSignal, "timeout").mockImplementation(() => timeout.call(AbortSignal, 10));
  respond = ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  expect(await failure()).toBe("TimeoutError");
  expect(limit).toHaveBeenCalledExactlyOnceWith(8000);
});

test("a run fails if no key is stored", async () => {
  for (const value of [undefined, ""]) {
    storeKey(value);
    expect(await failure()).toBe("The parameter of the key is empty");
  }
  parameters
    .on(GetParameterCommand)
    .rejects(Object.assign(new Error("secret"), { name: "ParameterNotFound", code: undefined }));
  expect(await failure()).toBe("ParameterNotFound");
});

test("if changes are no longer counted, runs fail from the second one on, until all changes are counted", async () => {
  await manyRuns();
  await run();
  untilNextRun();
  for (let times = 0; times < 3; times++) {
    requests = [];
    expect(await failure()).toBe("The total of leads was wrong");
    expect(requests).toHaveLength(15);
    untilNextRun();
  }
  await deliver();
  untilNextRun();
  await run();
});

test.each([
  ["lead", "leads"],
  ["conversation", "conversations"],
] as const)("a run fails if a counted %s does not exist, and if the list of %s has no rows", async (type, list) => {
  await manyRuns();
  const code = `The total of ${list} was wrong`;
  const restore = memory.snapshot();
  // The oldest row that a run compares, which a node counts, and a row that the root counts.
  const rows = rowsOf(type);
  for (const nth of [95, 30]) {
    memory.delete(rows[nth] ?? {});
    expect(await failure()).toBe(code);
    memory.restore(restore);
  }
  respond = async (sent) => (nameOf(sent) === `GET /api/v1/${list}?createdBefore` ? page([]) : serve(sent));
  expect(await failure()).toBe(code);
});

test("with the key of an account that has other leads, every run fails and writes nothing", async () => {
  account = "another";
  const event = { account, body: { name: "Ada", source: "web" } };
  await invokeHandler("create-lead", routeEvent("create-lead", event));
  vi.setSystemTime(Date.now() + 3 * 24 * 3_600_000);
  const before = stored();
  for (let times = 0; times < 2; times++) {
    expect(await failure()).toBe("The account of the key has other leads");
    untilNextRun();
  }
  expect(stored().set("rate", [])).toEqual(before.set("rate", []));
});

test("runs succeed after a run that ended at any of its requests, and after an outage of days", async () => {
  await manyRuns();
  for (const sent of Array(15).keys()) {
    requests = [];
    respond = (one) => (requests.length <= sent ? serve(one) : new Response("", { status: 500 }));
    expect(await failure()).toMatch(/ returned 500$/);
    await deliver();
    untilNextRun();
    respond = serve;
    await runs(1);
  }
  vi.setSystemTime(Date.now() + 3 * 24 * 3_600_000);
  untilNextRun();
  await runs(3);
});

test("a run costs the units that deploying.md states, and stores two leads and one conversation", async () => {
  await manyRuns();
  const before = stored();
  const events = new Set<string>();
  const count = 34;
  const { calls } = await table.watch(async () => {
    for (let times = 0; times < count; times++) {
      await run();
      events.add((await deliver()).sort().join());
      untilNextRun();
    }
  });
  expect([...events]).toEqual([
    "conversation.started,conversation.updated,lead.created,lead.created,lead.updated,message.received,message.sent,message.updated",
  ]);
  const after = stored();
  const types = ["lead", "externalId", "conversation", "message", "active"] as const;
  const added = types.map(
    (type) => (Number(after.get(type)?.length) - Number(before.get(type)?.length)) / count,
  );
  expect(added).toEqual([2, 1, 1, 2, 1]);
  const mean = (of: "reads" | "writes") => Math.round(sum(calls.map((call) => call[of])) / count);
  const deploying = await readFile(join(import.meta.dirname, "../../../docs/deploying.md"), "utf8");
  const documented = /\*\*The canary\*\*[^*]* (\d+) W and (\d+) R/.exec(deploying)?.slice(1).map(Number);
  expect(documented).toEqual([mean("writes"), mean("reads")]);
});
