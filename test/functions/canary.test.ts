import { createServer, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { GetParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { routes } from "../../shared/routes.ts";
import { invokeHandler } from "../support/call.ts";
import { routeEvent } from "../support/events.ts";
import { listening } from "../support/listening.ts";
import { useMemoryTable } from "../support/memory-leads.ts";
import { mockClient } from "../support/mocked-client.ts";

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
  const answer = await respond(sent, response);
  if (answer) response.writeHead(answer.status, answer.headers).end(JSON.stringify(answer.body ?? {}));
});
afterAll(() => server.closeAllConnections());

// The function reads these when it is loaded.
vi.stubEnv("API_URL", `${await listening(server)}/`);
vi.stubEnv("KEY_PARAMETER", "/stage/canary-key");
const { handler: run } = await import("../../functions/canary.ts");

/** The API behind the server. */
const serve: Respond = async ({ method, url = "", headers, body }) => {
  const [path, query = ""] = url.split("?");
  const route = Object.values(routes).find((one) => one.method === method && one.path === path);
  if (!route) return { status: 404, body: { message: "Not Found" } };
  const event = routeEvent(route.name, { query, headers, ...(body && { body }) });
  const answer = await invokeHandler(route.name, event);
  return {
    status: answer.statusCode ?? 500,
    headers: answer.headers as Readonly<Record<string, string>>,
    body: JSON.parse(answer.body ?? ""),
  };
};

/** The API, but for one of its routes. @param nth which of the requests to it has the other answer, from 1 */
const except =
  (route: string, answer: (body: never) => Answer | Promise<Answer>, nth = 1): Respond =>
  async (sent, response) => {
    const name = ({ method, url = "" }: Sent) => `${method} ${url.replace(/(id)=.*/, "$1")}`;
    const real = (await serve(sent, response)) ?? { status: 500 };
    const isOther = name(sent) === route && requests.filter((one) => name(one) === route).length === nth;
    return isOther ? answer(real.body as never) : real;
  };

beforeEach(() => {
  requests = [];
  respond = serve;
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 10, 21) });
  vi.spyOn(console, "info").mockImplementation(() => {});
  useMemoryTable();
  storeKey("lck_key");
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

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

test("it creates, replays, finds, lists and sends; all runs of a day add one lead with one message", async () => {
  for (let times = 0; times < 3; times++) await run();
  const key = { authorization: "Bearer lck_key", "idempotency-key": "canary-2026-11-21" };
  const post = { method: "POST", headers: { ...key, "content-type": "application/json" } };
  const get = { method: "GET", body: "", headers: { authorization: key.authorization } };
  const id = expect.stringContaining(`${leads}?id=lead_`);
  expect(requests.slice(0, 6)).toMatchObject([
    { ...post, url: leads, body: '{"name":"Canary","source":"canary"}' },
    { ...post, url: leads, body: '{"name":"Canary","source":"canary"}' },
    { ...get, url: id },
    { ...get, url: `${leads}?limit=1` },
    { ...post, url: conversations, body: expect.stringContaining('"channel":"canary"') },
    { ...get, url: expect.stringContaining(`${conversations}?id=conv_`) },
  ]);
  const list = async (name: "list-leads" | "list-conversations") =>
    JSON.parse((await invokeHandler(name, routeEvent(name))).body ?? "").data;
  expect(await list("list-leads")).toMatchObject([{ name: "Canary", source: "canary" }]);
  expect(await list("list-conversations")).toMatchObject([{ channel: "canary", messageCount: 1 }]);
});

const found = { status: 200, body: { data: [{ id: "another" }], pagination: { total: 1 } } };
const none = { status: 200, body: { data: [], pagination: { total: 1 } } };

test.each<[string, Respond]>([
  [
    "POST /api/v1/leads returned 403",
    except(`POST ${leads}`, () => ({ status: 403, body: { message: "No" } })),
  ],
  ["POST /api/v1/leads returned 200", except(`POST ${leads}`, (body) => ({ status: 200, body }))],
  ["POST /api/v1/leads returned 201 without data", except(`POST ${leads}`, () => ({ status: 201 }))],
  ["The repeated request was not a replay", except(`POST ${leads}`, (body) => ({ status: 201, body }), 2)],
  [
    "The repeated request returned another lead",
    except(
      `POST ${leads}`,
      () => ({ status: 201, headers: { "idempotency-replayed": "true" }, body: { id: "another" } }),
      2,
    ),
  ],
  [
    "GET /api/v1/leads returned 503",
    except(`GET ${leads}?id`, () => ({ status: 503, body: { code: "busy" } })),
  ],
  ["The lead was not found", except(`GET ${leads}?id`, () => none)],
  ["The lead was not found", except(`GET ${leads}?id`, () => found)],
  ["The list of leads was empty", except(`GET ${leads}?limit=1`, () => none)],
  [
    "The list of leads was empty",
    except(`GET ${leads}?limit=1`, () => ({ status: 200, body: { data: [1] } })),
  ],
  ["The conversation was not found", except(`GET ${conversations}?id`, () => found)],
])("a run fails, and logs: %s", async (code, api) => {
  respond = api;
  expect(await failure()).toBe(code);
});

test("it follows no redirect: its key must not go to another address", async () => {
  respond = () => ({ status: 302, headers: { location: "/elsewhere" } });
  expect(await failure()).toBe("POST /api/v1/leads returned 302");
  expect(requests).toHaveLength(1);
});

test("it waits eight seconds for a response", async () => {
  const { timeout } = AbortSignal;
  const limit = vi.spyOn(AbortSignal, "timeout").mockImplementation(() => timeout.call(AbortSignal, 10));
  respond = () => undefined;
  expect(await failure()).toBe("POST /api/v1/leads got no response (TimeoutError)");
  expect(limit).toHaveBeenCalledExactlyOnceWith(8000);
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
