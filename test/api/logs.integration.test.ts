import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { ulid } from "ulid";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { newApiKey, parseApiKey } from "../../shared/domain/api-key-format.ts";
import { startApi } from "../support/api.ts";
import { Canaries } from "../support/canaries.ts";
import { checking } from "../support/document.ts";
import { type FaultName, faults, startHostileEngine } from "../support/hostile-engine.ts";
import { leaksIn } from "../support/leaks.ts";

const canaries = new Canaries();
const account = randomUUID();
const engine = await startHostileEngine(inject("engine").endpoint);
afterAll(() => engine.stop());
const api = await startApi({ streams: true, throttling: true, dynamodbEndpoint: engine.endpoint });
const apiKey = canaries.key((await api.issueKey(account)).apiKey);
let leadId: string;
beforeAll(async () => {
  leadId = ((await send("POST", leads, lead).then((response) => response.json())) as { id: string }).id;
});

const [leads, conversations] = ["/api/v1/leads", "/api/v1/conversations"];

const lead = {
  name: canaries.text("name"),
  email: `${canaries.text("local")}@${canaries.text("domain")}.example`,
  source: canaries.text("source"),
  tags: [canaries.text("tag"), canaries.text("other-tag")],
};
const message = () => ({ leadId, channel: canaries.text("channel"), message: canaries.text("message") });

/** All headers in which a caller may say something. */
const headers = (type = "application/json") => ({
  authorization: `Bearer ${apiKey}`,
  "content-type": type,
  "user-agent": canaries.text("user-agent"),
  referer: `https://${canaries.text("referer")}.example`,
  cookie: `session=${canaries.text("cookie")}`,
  "idempotency-key": canaries.text(`idempotency-${randomUUID()}`),
  "x-forwarded-for": canaries.text("forwarded"),
  [canaries.text("header")]: canaries.text("header-value"),
});

/** Lines come a little later than answers. */
const soon = { timeout: 10_000 };

let answered = 0;

/** Sends a request; a body that is no text goes as JSON. */
async function send(method: string, path: string, body?: unknown, others: Record<string, string> = {}) {
  const response = await fetch(api.url + path, {
    method,
    headers: { ...headers(), ...others },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  answered++;
  return response;
}

const source = () => `source=${lead.source}`;

type Send = () => Promise<Response>;

/** A request to each route. */
const allRoutes: readonly Send[] = [
  () => send("GET", `${leads}?${source()}`),
  () => send("POST", leads, lead),
  () => send("GET", `${conversations}?leadId=${canaries.text("lead")}&channel=${canaries.text("channel")}`),
  () => send("POST", conversations, message()),
];

/** The statuses of requests that are sent one after another, so that a machine with other work is in time for each. */
async function statusesOf(requests: readonly Send[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const request of requests) statuses.push((await request()).status);
  return statuses;
}

const linesWith = (...parts: readonly string[]) =>
  api.log.filter((line) => parts.every((part) => line.includes(part)));

const expectNoLeak = () => expect(leaksIn(api.log, canaries.needles)).toEqual([]);

test("the log is searched for what it holds: a path that is sent is found in it", async () => {
  const visible = new Canaries();
  await send("GET", `/${visible.text("path")}?${source()}`);
  await expect.poll(() => leaksIn(api.log, visible.needles), soon).toHaveLength(1);
});

test("nothing of requests that are served is logged", async () => {
  expect(await statusesOf(allRoutes)).toEqual([200, 201, 200, 201]);
  for (const name of ["list-leads", "create-lead", "list-conversations", "send-message", "authorize"]) {
    expect(linesWith(`[${name}] Environment`), name).not.toEqual([]);
  }
  await expect.poll(() => linesWith("[maintain-counts] Environment"), { timeout: 20_000 }).not.toEqual([]);
  expectNoLeak();
});

test("nothing of requests that are refused is logged", async () => {
  const text = canaries.text("refused");
  const unknownKey = canaries.key(newApiKey(ulid()));
  const statuses = await statusesOf([
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

/** Sends bytes as they are, and goes away. */
async function sendRaw(bytes: string) {
  const socket = connect(Number(new URL(api.url).port), "127.0.0.1");
  socket.on("error", () => {});
  socket.end(bytes);
  await once(socket.resume(), "close");
}

test("nothing of what is no request, or only half of one, is logged", async () => {
  const text = canaries.text("raw");
  const before = linesWith("the client went away").length;
  await sendRaw(`${text}\r\n\r\n`);
  await sendRaw(`GET ${leads} HTTP/1.1\r\nHost: x\r\nX-A: ${text.repeat(1000)}\r\n\r\n`);
  await sendRaw(
    `POST ${leads}?${text} HTTP/1.1\r\nHost: x\r\nX-A: ${text}\r\nContent-Length: 999\r\n\r\n${text}`,
  );
  await expect.poll(() => linesWith("the client went away").length, soon).toBe(before + 1);
  expectNoLeak();
});

/** How often a function has logged a failure of its own. */
const failuresOf = (name: string, event: string) => linesWith(`[${name}]`, `event: '${event} failed'`).length;

const names = ["list-leads", "create-lead", "list-conversations", "send-message"] as const;

test.each(
  Object.keys(faults) as FaultName[],
)("nothing of what a table fails with is logged or answered: %s", async (fault) => {
  const failures = () => [
    failuresOf("authorize", "function"),
    ...names.map((name) => failuresOf(name, "request")),
  ];
  const before = failures();
  const { sha256 = "" } = parseApiKey(apiKey) ?? {};
  engine.fail(fault, canaries.text("row"), (body) => body.includes(sha256));
  checking.on = fault !== "items of no sense";
  try {
    const unknownKey = canaries.key(newApiKey(ulid()));
    const responses = await Promise.all([
      send("GET", leads, undefined, { authorization: `Bearer ${unknownKey}` }),
      ...allRoutes.map((request) => request()),
    ]);
    const statuses = responses.map(({ status }) => status);
    // What has no sense is read as far as it goes, and no key is live by it.
    if (fault === "items of no sense") expect(statuses).toEqual([403, 500, 201, 200, 201]);
    else expect(Math.min(...statuses)).toBeGreaterThanOrEqual(500);
    const failed = responses.filter(({ status }) => status >= 500);
    const bodies = await Promise.all(failed.map((response) => response.text()));
    expect(leaksIn(bodies, canaries.needles)).toEqual([]);
    const after = before.map((count, i) => count + ((statuses[i] ?? 0) >= 500 ? 1 : 0));
    await expect.poll(failures, soon).toEqual(after);
  } finally {
    checking.on = true;
    engine.fail(undefined);
  }
  expectNoLeak();
});

test.each([
  "ValidationException",
  "items of no sense",
  "no JSON",
  "a lost connection",
] as const)("nothing of what cannot be counted is logged: %s", async (fault) => {
  const counts = `"COUNT#${account}#LEAD"`;
  const before = failuresOf("maintain-counts", "counts");
  engine.fail(fault, canaries.text("row"), (body) => !body.includes(counts));
  try {
    expect((await send("POST", leads, lead)).status).toBe(201);
    await expect
      .poll(() => failuresOf("maintain-counts", "counts"), { timeout: 20_000 })
      .toBeGreaterThan(before);
  } finally {
    engine.fail(undefined);
  }
  expectNoLeak();
});

test("nothing of requests past the throttle is logged", async () => {
  const flood = Array.from({ length: 600 }, () =>
    send("POST", `${leads}?${source()}`, lead, { authorization: "" }),
  );
  const statuses = (await Promise.all(flood)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 429)).not.toEqual([]);
  expectNoLeak();
});

test("every request has left a line", async () => {
  const lines = () => api.log.filter((line) => /^[A-Z]+ \/\S* \d{3} \d+ ms /.test(line)).length;
  await expect.poll(lines, soon).toBe(answered);
});
