import { randomUUID } from "node:crypto";
import { ulid } from "ulid";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newApiKey, parseApiKey } from "../../shared/domain/api-key-format.ts";
import { startApi } from "../support/api.ts";
import { fetchChecked } from "../support/checked-fetch.ts";
import { type Exchange, startFaultyTable, type TableResponse } from "../support/faulty-table.ts";
import { findLeaks } from "../support/leaks.ts";

/** Occurs nowhere else: a log that holds it holds what a test sent. */
const marker = "zqxjkvwb";

/** The secrets of API keys; the ids of the keys may be in the access log. */
const secrets: string[] = [];

/** The text for a field. The marker is repeated, so that the fragment of one that an error quotes is found too. */
const textOf = (field: string) => `${marker.repeat(3)}-${field}`;

function noteKey(apiKey: string): string {
  const [, , secret = ""] = apiKey.split("_");
  secrets.push(secret, parseApiKey(apiKey)?.sha256 ?? secret);
  return apiKey;
}

/** A way to fail a call of the table; the response contains `text` wherever possible. */
type Fault = (exchange: Exchange, text: string) => unknown;

const createItem = (S: string) =>
  Object.fromEntries(
    ["pk", "sk", "id", "status", "source", "validUntil", "entries"].map((name) => [name, { S }]),
  );

const withText = (status: number, text: string): TableResponse => ({
  status,
  headers: { "content-type": "application/x-amz-json-1.0" },
  body: Buffer.from(text),
});

const exception =
  (type: string, status = 400): Fault =>
  ({ reply }, text) =>
    reply(
      withText(
        status,
        JSON.stringify({
          __type: `com.amazonaws.dynamodb.v20120810#${type}`,
          message: text,
          Message: text,
          Item: createItem(text),
          CancellationReasons: [{ Code: "ValidationError", Message: text, Item: createItem(text) }],
        }),
      ),
    );

/** The faults of a table's calls, each with more of the data than AWS would ever quote. */
const faults = {
  ValidationException: exception("ValidationException"),
  AccessDeniedException: exception("AccessDeniedException"),
  ResourceNotFoundException: exception("ResourceNotFoundException"),
  ThrottlingException: exception("ThrottlingException"),
  TransactionCanceledException: exception("TransactionCanceledException"),
  InternalServerError: exception("InternalServerError", 500),
  "no JSON": ({ reply }, text) => reply(withText(200, `${text} is no JSON`)),
  "no JSON in an error": ({ reply }, text) => reply(withText(400, `${text} is no JSON`)),
  "items of no sense": ({ reply, input }, text) => {
    const tables = Object.keys(input.RequestItems ?? {});
    const Responses = Object.fromEntries(tables.map((table) => [table, [createItem(text)]]));
    const body = { Item: createItem(text), Items: [createItem(text)], Count: text, Responses };
    reply(withText(200, JSON.stringify(body)));
  },
  "a lost connection": ({ drop }) => drop(),
  "no answer": () => {},
} satisfies Record<string, Fault>;

const account = randomUUID();
const engine = await startFaultyTable();
afterAll(() => engine.close());

/** Lets calls of the table fail until the function that it returns is called, but for those whose input `passes`. */
function failCalls(fault: keyof typeof faults, passes: (input: string) => boolean): () => void {
  const text = textOf("row");
  engine.handle = async (exchange) => {
    const input = JSON.stringify(exchange.input);
    const isOfStream = /Stream|Shard|GetRecords/.test(exchange.operation);
    if (isOfStream || passes(input)) return exchange.pass();
    return faults[fault](exchange, `${text} ${input}`);
  };
  return () => {
    engine.handle = ({ pass }) => pass();
  };
}

const api = await startApi({ streams: true, throttling: true, dynamodbEndpoint: engine.endpoint });
const apiKey = noteKey((await api.issueKey(account)).apiKey);
let leadId: string;
beforeAll(async () => {
  leadId = ((await send("POST", leads, lead).then((response) => response.json())) as { id: string }).id;
});

const [leads, conversations] = ["/api/v1/leads", "/api/v1/conversations"];

const lead = {
  name: textOf("name"),
  email: `${textOf("local")}@${textOf("domain")}.example`,
  source: textOf("source"),
  tags: [textOf("tag"), textOf("other-tag")],
};
const message = () => ({ leadId, channel: textOf("channel"), message: textOf("message") });

/** Every header in which a caller may send text. */
const headers = (type = "application/json") => ({
  authorization: `Bearer ${apiKey}`,
  "content-type": type,
  "user-agent": textOf("user-agent"),
  referer: `https://${textOf("referer")}.example`,
  cookie: `session=${textOf("cookie")}`,
  "idempotency-key": textOf(`idempotency-${randomUUID()}`),
  "x-forwarded-for": textOf("forwarded"),
  [textOf("header")]: textOf("header-value"),
});

let responses = 0;

/** Off while the table returns invalid items, for which no response is documented. */
let documented = true;

/** Sends a request; a body that is not a string is sent as JSON. */
async function send(method: string, path: string, body?: unknown, others: Record<string, string> = {}) {
  const response = await (documented ? fetchChecked : fetch)(api.url + path, {
    method,
    headers: { ...headers(), ...others },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  responses++;
  return response;
}

const source = () => `source=${lead.source}`;

type Send = () => Promise<Response>;

/** A request to each route. */
const allRoutes: readonly Send[] = [
  () => send("GET", `${leads}?${source()}`),
  () => send("POST", leads, lead),
  () => send("GET", `${conversations}?leadId=${textOf("lead")}&channel=${textOf("channel")}`),
  () => send("POST", conversations, message()),
];

/** Sends requests one after another, so that none times out on a busy machine. @returns their statuses */
async function sendAll(requests: readonly Send[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const request of requests) statuses.push((await request()).status);
  return statuses;
}

const linesWith = (...parts: readonly string[]) =>
  api.log.filter((line) => parts.every((part) => line.includes(part)));

const expectNoLeak = () => expect(findLeaks(api.log, [marker, ...secrets])).toEqual([]);

test("the search finds the path of a request, which the log holds", async () => {
  await send("GET", `/visible-path?${source()}`);
  await expect.poll(() => findLeaks(api.log, ["visible-path"])).toHaveLength(1);
});

test("nothing of successful requests is logged", async () => {
  // A busy machine may start the functions too late for the first requests.
  await expect.poll(() => sendAll(allRoutes)).toEqual([200, 201, 200, 201]);
  for (const name of ["list-leads", "create-lead", "list-conversations", "send-message", "authorize"]) {
    expect(linesWith(`[${name}] Environment`), name).not.toEqual([]);
  }
  await expect.poll(() => linesWith("[maintain-counts] Environment")).not.toEqual([]);
  expectNoLeak();
});

test("nothing of rejected requests is logged", async () => {
  const text = textOf("rejected");
  const unknownKey = noteKey(newApiKey(ulid()));
  const statuses = await sendAll([
    () => send("GET", `${leads}?${text}=${text}&page=${text}&source=%ff${text}&limit=1&limit=${text}`),
    () => send("GET", leads, undefined, { authorization: "" }),
    () => send("GET", leads, undefined, { authorization: `Bearer ${text}` }),
    () => send("GET", leads, undefined, { authorization: `Basic ${apiKey}` }),
    () => send("GET", leads, undefined, { authorization: `Bearer ${unknownKey}` }),
    () => send("GET", leads, undefined, { authorization: `Bearer ${apiKey},Bearer ${apiKey}` }),
    () => send("POST", leads, { ...lead, [text]: text, email: text, tags: [text, 5, null] }),
    () => send("POST", leads, `{"name":"${text}"`),
    () => send("POST", leads, `{"__proto__":{"${text}":1}}`),
    () => send("POST", leads, `{"name":${"[".repeat(20_000)}"${text}"`),
    () => send("POST", leads, text.repeat(20_000)),
    () => send("POST", leads, lead, { "content-type": `text/${text}` }),
    () => send("POST", leads, { name: `${text}\u0000` }, { "content-type": "application/vnd.api+json" }),
    () => send("POST", conversations, { ...message(), leadId: text }),
    () => send("PUT", `${leads}?${source()}`, lead),
    () => send("POST", leads, `${text}${"x".repeat(7_000_000)}`),
  ]);
  expect(statuses).toEqual([
    ...[400, 401, 403, 403, 403, 403, 400, 400, 400, 400, 400, 415, 400, 404, 404, 413],
  ]);
  expectNoLeak();
});

/** Counts the failures that a function has logged. */
const countFailures = (name: string, event: string) =>
  linesWith(`[${name}]`, `event: '${event} failed'`).length;

const names = ["list-leads", "create-lead", "list-conversations", "send-message"] as const;

test.each(
  Object.keys(faults) as (keyof typeof faults)[],
)("nothing of a table's error is logged or returned: %s", async (fault) => {
  // On a busy machine, the authorizer is asked again, and fails in place of a route, or a function does not load in time.
  const failures = () =>
    names.reduce(
      (sum, name) => sum + countFailures(name, "request"),
      countFailures("authorize", "function") + linesWith("did not load").length,
    );
  const before = failures();
  const { sha256 = "" } = parseApiKey(apiKey) ?? {};
  const stopFailing = failCalls(fault, (input) => input.includes(sha256));
  documented = fault !== "items of no sense";
  try {
    const unknownKey = noteKey(newApiKey(ulid()));
    const failing: Response[] = [];
    const attempt = async () => {
      const responses = await Promise.all([
        send("GET", leads, undefined, { authorization: `Bearer ${unknownKey}` }),
        ...allRoutes.map((request) => request()),
      ]);
      failing.push(...responses);
      return responses.map(({ status }) => status);
    };
    // Routes read invalid items as far as they can: a list of one lead reads no counts. The authorizer admits no key by them.
    // On a busy machine, the table can be too slow, too.
    if (fault === "items of no sense") await expect.poll(attempt).toEqual([403, 200, 201, 200, 201]);
    // A throttle without a reason counts as one of the account's own data.
    else if (fault === "ThrottlingException") await expect.poll(attempt).toEqual([500, 429, 429, 429, 429]);
    else expect(Math.min(...(await attempt()))).toBeGreaterThanOrEqual(500);
    const failed = failing.filter(({ status }) => status >= 429);
    const bodies = await Promise.all(failed.map((response) => response.text()));
    expect(findLeaks(bodies, [marker, ...secrets])).toEqual([]);
    const failedNow = failed.filter(({ status }) => status >= 500).length;
    await expect.poll(failures).toBeGreaterThanOrEqual(before + failedNow);
  } finally {
    documented = true;
    stopFailing();
  }
  // What was throttled backs off.
  if (fault === "ThrottlingException")
    await expect.poll(() => sendAll(allRoutes)).toEqual([200, 201, 200, 201]);
  expectNoLeak();
});

test.each([
  "ValidationException",
  "items of no sense",
  "no JSON",
] as const)("nothing of leads that cannot be counted is logged: %s", async (fault) => {
  const counts = `"COUNT#${account}#LEAD"`;
  const before = countFailures("maintain-counts", "counts");
  const stopFailing = failCalls(fault, (input) => !input.includes(counts));
  try {
    expect((await send("POST", leads, lead)).status).toBe(201);
    await expect.poll(() => countFailures("maintain-counts", "counts")).toBeGreaterThan(before);
  } finally {
    stopFailing();
  }
  expectNoLeak();
});

test("every request has logged one line", async () => {
  const lines = () => api.log.filter((line) => /^[A-Z]+ \/\S* \d{3} \d+ ms /.test(line)).length;
  await expect.poll(lines).toBe(responses);
});
