import { readFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { GetParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { DeleteCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import type { DynamoDBRecord } from "aws-lambda";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { handler as maintain } from "../../../functions/maintain-counts.ts";
import { toEvents } from "../../../shared/domain/events.ts";
import { activeConversationKey, messageKey, readPartition } from "../../../shared/dynamodb/keys.ts";
import { table } from "../../../shared/dynamodb/table-client.ts";
import { newId } from "../../../shared/ids.ts";
import { routes } from "../../../shared/routes.ts";
import { sum } from "../../support/cases/statistics.ts";
import { stopClock } from "../../support/cases/virtual-time.ts";
import { MemoryTable } from "../../support/memory-table/memory-table.ts";
import { lambdaContext, routeEvent } from "../../support/requests/events.ts";
import { listening } from "../../support/requests/listening.ts";
import { mockClient } from "../../support/tables/mocked-client.ts";
import { streamRecord } from "../../support/tables/stream-record.ts";

const parameters = mockClient(SSMClient);

interface Sent {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Responds to a request of the canary. */
type Respond = (sent: Sent, response: ServerResponse) => Answer | Promise<Answer> | undefined;

let respond: Respond;
let requests: Sent[];
const server = createServer(async (request, response) => {
  const { method, url } = request;
  const headers = request.headers as Readonly<Record<string, string>>;
  const sent = { method, url, headers, body: await text(request) };
  requests.push(sent);
  // As on a machine, no two requests come in the same millisecond.
  vi.setSystemTime(Date.now() + 1);
  const answer = await respond(sent, response);
  if (answer) response.writeHead(answer.status, answer.headers).end(JSON.stringify(answer.body ?? {}));
});
afterAll(() => server.closeAllConnections());

// The functions read these when they are loaded.
vi.stubEnv("API_URL", `${await listening(server)}/`);
vi.stubEnv("KEY_PARAMETER", "/stage/canary-key");
vi.stubEnv("KEY_ACCOUNT", "canary");
vi.stubEnv("RATE_LIMIT_REQUESTS", "6000");
vi.stubEnv("RATE_LIMIT_SECONDS", "60");
const { handler: run } = await import("../../../functions/canary.ts");
const { invokeHandler } = await import("../../support/requests/call.ts");

/** The API behind the server. */
const serve: Respond = async ({ method, url = "", headers, body }) => {
  const [path, query = ""] = url.split("?");
  const route = Object.values(routes).find((one) => one.method === method && one.path === path);
  if (!route) return { status: 404, body: { message: "Not Found" } };
  const event = routeEvent(route.name, { account, query, headers, ...(body && { body }) });
  const answer = await invokeHandler(route.name, event);
  return {
    status: answer.statusCode ?? 500,
    headers: answer.headers as Readonly<Record<string, string>>,
    body: JSON.parse(answer.body ?? ""),
  };
};

/** Which kind of request it is. */
const nameOf = ({ method, url = "", headers }: Sent) =>
  `${method} ${url.replace(/(ifExists|awaitingReply|[?]id)=.*/, "$1")}${method === "POST" && !headers["idempotency-key"] ? " without a key" : ""}`;

/** The table, what its stream has not delivered, and the units that were used. */
let memory: MemoryTable;
let changes: DynamoDBRecord[];
const used = { reads: 0, writes: 0 };
let before: (command: object) => unknown;
/** The one of the key. */
let account: string;

beforeEach(() => {
  account = "canary";
  requests = [];
  respond = serve;
  changes = [];
  before = () => {};
  stopClock(Date.UTC(2026, 10, 21));
  memory = new MemoryTable({
    onChange: ({ before, after }) => void changes.push(streamRecord(before, after)),
  });
  vi.spyOn(table, "send").mockImplementation((async (command: object) => {
    await before(command);
    const { output, reads, writes } = memory.execute(command);
    used.reads += reads;
    used.writes += writes;
    return output;
  }) as never);
  storeKey("lck_key");
});

/** The stream delivers everything to the maintainer. @returns the types of the events of these changes */
async function deliver(): Promise<string[]> {
  vi.setSystemTime(Date.now() + 2000);
  const records = changes;
  changes = [];
  expect(await maintain({ Records: records }, lambdaContext(60_000))).toEqual({ batchItemFailures: [] });
  return toEvents(records).map(({ type }) => type);
}

const untilNextRun = () => vi.setSystemTime(Math.ceil((Date.now() + 1) / 300_000) * 300_000);

/** How many items of each type the account has. */
function stored(): Record<string, number> {
  const types = Array.from(memory.items(), ({ pk }) => readPartition(String(pk))?.itemType ?? "");
  return Object.fromEntries(
    Object.entries(Object.groupBy(types, (it) => it)).map(([type, all = []]) => [type, all.length]),
  );
}

function storeKey(value: string | undefined) {
  parameters.reset();
  parameters
    .on(GetParameterCommand, { Name: "/stage/canary-key", WithDecryption: true })
    .resolves({ Parameter: { ...(value !== undefined && { Value: value }) } });
}

/** Fails a run. @returns the code and the reason of the error that it logs */
async function failure(): Promise<string | undefined> {
  const error = vi.spyOn(console, "error").mockImplementation(() => {});
  await expect(run()).rejects.toThrow("The function failed.");
  const [{ event, cause }] = error.mock.lastCall ?? [];
  expect(event).toBe("function failed");
  return cause.code;
}

const [leads, conversations] = ["/api/v1/leads", "/api/v1/conversations"];
const get = (path: string) => `GET ${path}`;
const post = (path: string) => `POST ${path}`;
const update = `POST ${leads}?ifExists without a key`;
const report = `POST ${conversations}?update=message without a key`;
const end = `POST ${conversations}?update=conversation without a key`;
const ok = (body: object) => ({ status: 200, body });
const found = ok({ data: [{ id: "another" }], pagination: { total: 1 } });

test("it uses every route with its key, with new writes in each run", async () => {
  for (let times = 0; times < 2; times++) {
    await run();
    untilNextRun();
  }
  const used = [get(leads), post(leads), post(leads), update, update, get(leads), post(conversations)];
  const [answer, waiting] = [`${post(conversations)} without a key`, `${get(conversations)}?awaitingReply`];
  const kinds = [...used, report, answer, waiting, get(conversations), end];
  const names = requests.map(nameOf);
  expect(names.map((name) => name.replace(/[?](?:id|limit=1)$/, ""))).toEqual([...kinds, ...kinds]);
  for (const { headers } of requests) expect(headers.authorization).toBe("Bearer lck_key");
  const keys = requests.map(({ headers }) => headers["idempotency-key"]).filter(Boolean);
  expect(keys).toEqual(keys.map(() => expect.stringMatching(/^canary-.{36}$/)));
  expect(new Set(keys).size).toBe(2);
  expect(
    requests.filter(({ method }) => method === "POST").map(({ headers }) => headers["content-type"]),
  ).toEqual(Array(16).fill("application/json"));
});

test.each<[string, string, (body: object) => Answer, number?]>([
  ["POST /api/v1/leads returned 403", post(leads), () => ({ status: 403, body: { message: "No" } })],
  ["POST /api/v1/leads returned 200", post(leads), ok],
  ["POST /api/v1/leads returned 201 without data", post(leads), () => ({ status: 201 })],
  ["The repeated request was not a replay", post(leads), (body) => ({ status: 201, body }), 2],
  [
    "The repeated request returned another lead",
    post(leads),
    () => ({ status: 201, headers: { "idempotency-replayed": "true" }, body: { id: "another" } }),
    2,
  ],
  ["POST /api/v1/leads without a key returned 201", update, (body) => ({ status: 201, body }), 2],
  ["The update changed another lead", update, (body) => ok({ ...body, id: "another" }), 2],
  ["The update changed nothing", update, (body) => ok({ ...body, score: 0 }), 2],
  ["The leads were not found", `${get(leads)}?id`, () => ok({ data: [], pagination: { total: 0 } })],
  ["The leads were not found", `${get(leads)}?id`, () => found],
  [
    "The leads were not found",
    `${get(leads)}?id`,
    (body) => ok({ data: Array(2).fill(Object(body).data[0]) }),
  ],
  ["The total of leads was not their number", `${get(leads)}?limit=1`, () => found],
  [
    "The list of leads was empty",
    `${get(leads)}?limit=1`,
    () => ok({ data: [{}], pagination: { total: 0 } }),
  ],
  ["The report of the delivery changed nothing", report, (body) => ok({ ...body, delivery: "sent" })],
  [
    "The answer started another conversation",
    `${post(conversations)} without a key`,
    (body) => ({ status: 201, body: { ...body, conversationId: "another" } }),
  ],
  ["The conversation was not found", `${get(conversations)}?id`, () => found],
  [
    "The conversation did not have both messages",
    `${get(conversations)}?id`,
    (body) => ok({ data: [{ ...Object(body).data[0], messageCount: 1 }] }),
  ],
  ["The conversation did not end", end, (body) => ok({ ...body, status: "active" })],
])("a run fails, and logs: %s", async (code, kind, answer, nth = 1) => {
  respond = async (sent, response) => {
    const real = (await serve(sent, response)) ?? { status: 500 };
    const isOther = nameOf(sent) === kind && requests.filter((one) => nameOf(one) === kind).length === nth;
    return isOther ? answer(Object(real.body)) : real;
  };
  expect(await failure()).toBe(code);
});

test("it follows no redirect: its key must not go to another address", async () => {
  respond = () => ({ status: 302, headers: { location: "/elsewhere" } });
  expect(await failure()).toBe("GET /api/v1/leads returned 302");
  expect(requests).toHaveLength(1);
});

test("it waits eight seconds for a response", async () => {
  const { timeout } = AbortSignal;
  const limit = vi.spyOn(AbortSignal, "timeout").mockImplementation(() => timeout.call(AbortSignal, 10));
  respond = () => undefined;
  expect(await failure()).toBe("GET /api/v1/leads got no response (TimeoutError)");
  expect(limit).toHaveBeenCalledExactlyOnceWith(8000);
});

test("it names why it has no connection", async () => {
  const cause = Object.assign(new Error("secret"), { code: "ECONNREFUSED" });
  vi.spyOn(globalThis, "fetch").mockRejectedValue(new TypeError("fetch failed", { cause }));
  expect(await failure()).toBe("GET /api/v1/leads got no response (ECONNREFUSED)");
});

test("a key that is not stored fails the run", async () => {
  for (const value of [undefined, ""]) {
    storeKey(value);
    expect(await failure()).toBe("The parameter of the key is empty");
  }
  parameters
    .on(GetParameterCommand)
    .rejects(Object.assign(new Error("secret"), { name: "ParameterNotFound", code: undefined }));
  expect(await failure()).toBeUndefined();
});

/** What the API never sends. */
const isKeyQuery = (command: object) =>
  command instanceof QueryCommand && command.input.ProjectionExpression === "pk, sk";
const isDelete = (command: object) => command instanceof DeleteCommand;

test.each([
  ["query", isKeyQuery],
  ["delete", isDelete],
])("a run that may not %s fails, and writes nothing", async (_action, isDenied) => {
  for (let times = 0; times < 2; times++) {
    await run();
    untilNextRun();
  }
  requests = [];
  before = (command) => {
    if (isDenied(command)) throw Object.assign(new Error("secret"), { name: "AccessDeniedException" });
  };
  expect(await failure()).toBe("The rows of earlier runs were not deleted (AccessDeniedException)");
  expect(requests).toHaveLength(1);
});

test("once nothing counts its changes, the second run fails, and until all are counted", async () => {
  for (let times = 0; times < 4; times++) {
    await run();
    await deliver();
    untilNextRun();
  }
  await run();
  untilNextRun();
  for (let times = 0; times < 3; times++) {
    requests = [];
    expect(await failure()).toBe("The total of leads was not their number");
    expect(requests).toHaveLength(12);
    untilNextRun();
  }
  await deliver();
  untilNextRun();
  await run();
});

test("with a key of another account, all runs but the first one fail", async () => {
  account = "another";
  await run();
  for (let times = 0; times < 2; times++) {
    untilNextRun();
    expect(await failure()).toBe("The total of leads was not their number");
  }
});

test("what a run has left that ended at any time, the second run after it takes away", async () => {
  const next = async () => {
    untilNextRun();
    requests = [];
    const ended = await run().then(
      () => true,
      () => false,
    );
    await deliver();
    return ended;
  };
  for (let times = 0; times < 3; times++) expect(await next()).toBe(true);
  const atRest = stored();
  for (const sent of [1, 2, 3, 4, 5, 6, 7, 8, 9]) {
    respond = (one, response) => (requests.length < sent ? serve(one, response) : { status: 500 });
    expect([sent, await next()]).toEqual([sent, false]);
    for (const type of ["LEAD", "EXTERNAL", "CONVERSATION", "MESSAGE", "ACTIVE"])
      expect(stored()[type] ?? 0, type).toBeLessThanOrEqual(atRest[type] ?? 0);
  }
  respond = serve;
  for (const deleted of [0, 1, 2, 3, 4, 5, 6, 7]) {
    let deletions = 0;
    before = (command) => {
      if (isDelete(command) && deletions++ === deleted) throw new Error("It has ended.");
    };
    expect([deleted, await next()]).toEqual([deleted, false]);
    before = () => {};
    for (let times = 0; times < 3; times++) expect([deleted, await next()]).toEqual([deleted, true]);
    const { LEAD, EXTERNAL, CONVERSATION, MESSAGE, ACTIVE } = atRest;
    expect(stored()).toMatchObject({ LEAD, EXTERNAL, CONVERSATION, MESSAGE, ACTIVE });
  }
});

test("after 50 runs, the rows of two remain, and a run costs the units that deploying.md has", async () => {
  const events = new Set<string>();
  const rows = new Set<string>();
  const units: (typeof used)[] = [];
  for (let times = 0; times < 50; times++) {
    Object.assign(used, { reads: 0, writes: 0 });
    await run();
    events.add((await deliver()).sort().join());
    units.push({ ...used });
    // Idempotency records and the windows of the rate limit expire.
    const { IDEMPOTENCY, RATE, ...others } = stored();
    if (times > 2) rows.add(JSON.stringify(Object.entries(others).sort()));
    untilNextRun();
  }
  expect([...events]).toEqual([
    "conversation.started,conversation.updated,lead.created,lead.created,lead.updated,message.received,message.sent,message.updated",
  ]);
  const remaining = { ACTIVE: 2, CONVERSATION: 2, COUNT: 6, EXTERNAL: 2, LEAD: 4, MESSAGE: 4 };
  expect([...rows]).toEqual([JSON.stringify(Object.entries(remaining))]);
  const mean = (of: keyof typeof used) => Math.round(sum(units.slice(3).map((each) => each[of])) / 47);
  const page = await readFile(join(import.meta.dirname, "../../../docs/deploying.md"), "utf8");
  const documented = /\*\*The canary\*\*[^*]* (\d+) W and (\d+) R/.exec(page)?.slice(1).map(Number);
  expect(documented).toEqual([mean("writes"), mean("reads")]);
});

test("planted items stop no run: one without a row's key is logged of each list, and others go as rows do", async () => {
  const logged = vi.spyOn(console, "error").mockImplementation(() => {});
  const next = async () => {
    await deliver();
    untilNextRun();
    await run();
  };
  for (let times = 0; times < 3; times++) await next();
  const before = Date.now() - 360_000;
  const [leadId, conversationId] = [newId("lead", before), newId("conv", before)];
  const stay = [
    ["LEAD#canary", "zzz"],
    ["LEAD#canary", conversationId],
    ["LEAD#canary", `${leadId}x`],
    ["CONVERSATION#canary", leadId],
  ];
  const go = [
    ["LEAD#canary", leadId],
    ["CONVERSATION#canary", conversationId],
    [activeConversationKey("canary", leadId, "x").pk, "zzz"],
    [messageKey("canary", conversationId, "x").pk, "zzz"],
  ];
  const lists = ["CONVERSATION#canary", "LEAD#canary"];
  const named = () =>
    logged.mock.calls
      .map(([{ pk }]) => pk)
      .filter((pk) => lists.includes(pk))
      .sort();
  for (const [pk, sk] of stay) memory.put({ pk, sk });
  // Before functions of the stream log them: here, they share the memory of what was logged.
  await run();
  expect(named()).toEqual(lists);
  for (const [pk, sk] of go) memory.put({ pk, sk });
  for (let times = 0; times < 4; times++) await next();
  expect(named()).toEqual(lists);
  const left = [...memory.items()].map(({ pk, sk }) => [pk, sk]);
  expect(left).toEqual(expect.arrayContaining(stay));
  for (const item of go) expect(left).not.toContainEqual(item);
});
