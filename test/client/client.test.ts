import { describe, expect, test } from "vitest";
import { ApiError, createClient, parseEvent } from "../../docs/client/client.ts";
import { eventDetailExamples } from "../../lib/openapi/examples.ts";
import { newId } from "../../shared/ids.ts";
import { type FaultName, serve, startHostileServer } from "./hostile-server.ts";

/** The error of a call. */
const errorOf = (call: Promise<unknown>): Promise<ApiError> =>
  call.then(
    () => expect.fail("The call has not failed."),
    (error) => error,
  );

const lead = { name: "Ada" };

describe("a call", () => {
  test("retries after Retry-After and more and more jitter", async () => {
    const planned: FaultName[] = [
      "bad gateway",
      "lost",
      "rate limited",
      "busy",
      "failed",
      "throttled",
      "cut",
      "broken",
    ];
    const { api, options, clock } = await startHostileServer((n) => planned[n - 1]);
    const waits: number[] = [];
    const wait = (milliseconds: number) => {
      waits.push(Math.round(milliseconds));
      return clock.wait(milliseconds);
    };
    const client = createClient({ ...options, wait, random: () => 0.5, within: 300_000 });
    const created = await client.createLead(lead);
    expect(waits).toEqual([500, 1000, 7000 + 2000, 1000 + 4000, 8000, 15_000, 15_000, 15_000]);
    expect([...api.leads.values()]).toEqual([created]);
  });

  test("gives up in time, with what the last response said and the error of the last attempt", async () => {
    const { client, clock } = await startHostileServer((n) => (n < 5 ? "busy" : "broken"));
    const start = clock.time;
    const error = await errorOf(client.listLeads({ email: "ada@example.com" }));
    // Within two minutes, unless a caller says otherwise.
    expect(clock.time - start).toBeGreaterThan(60_000);
    expect(clock.time - start).toBeLessThan(120_000);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 503,
      code: "busy",
      requestId: "request-4",
      retryAfter: 1,
      errors: [],
    });
    expect(error.cause).toMatchObject({
      status: undefined,
      code: "no_response",
      cause: { name: "TypeError" },
    });
    expect(error.message).toMatch(
      /^Gave up after \d+ attempts: GET \/api\/v1\/leads: 503 busy: Busy\. \(request request-4\)$/,
    );
  });

  test("gives up at once when the service wants a retry later than that", async () => {
    const { client, stats } = await startHostileServer(() => "rate limited");
    const error = await errorOf(client.listLeads({}, { within: 5000 }));
    expect(error).toMatchObject({ status: 429, code: "rate_limited", retryAfter: 7 });
    expect(stats.requests).toBe(1);
  });

  test("has the key with which a POST that was given up can be sent again", async () => {
    let down = true;
    const { api, client } = await startHostileServer(() => (down ? "lost" : undefined));
    const { idempotencyKey = "", code } = await errorOf(client.createLead(lead));
    expect(code).toBe("no_response");
    down = false;
    const created = await client.createLead(lead, { idempotencyKey });
    await client.createLead(lead);
    expect([...api.leads.keys()]).toHaveLength(2);
    expect(api.leads.get(created.id)).toEqual(created);
  });

  test("creates or updates a lead once, whatever response is lost, and says which", async () => {
    const { api, client, stats } = await startHostileServer((n) => (n % 2 === 1 ? "lost" : undefined));
    const externalId = "crm-1";
    const first = await client.updateLead({ ...lead, externalId });
    expect(first).toEqual({ lead: api.leads.get(first.lead.id), created: true });
    const changes = { status: "qualified", metadata: { plan: "pro" } } as const;
    const second = await client.updateLead({ externalId, ...changes });
    expect(second).toEqual({ lead: { ...first.lead, ...changes }, created: false });
    expect([stats.requests, api.events.length]).toEqual([4, 2]);
  });

  test("says which lead has an external id already", async () => {
    const { client } = await startHostileServer();
    const { id } = await client.createLead({ ...lead, externalId: "crm-1" });
    const again = client.createLead({ ...lead, externalId: "crm-1" });
    expect(await errorOf(again)).toMatchObject({ status: 409, code: "lead_exists", id });
  });

  test("ends at a refusal that another attempt would not change", async () => {
    const { client, stats } = await startHostileServer();
    expect(await errorOf(client.createLead({ name: 1 } as never))).toMatchObject({
      status: 400,
      code: "invalid_input",
      errors: [{ field: "name", code: "required" }],
      requestId: "request-1",
      message: expect.stringContaining("(request request-1)"),
    });
    const message = { leadId: "lead_1", channel: "whatsapp", message: "Hello" };
    expect(await errorOf(client.sendMessage(message))).toMatchObject({ status: 404, code: "lead_not_found" });
    expect(stats.requests).toBe(2);
  });

  test("ends at what is no response of the API", async () => {
    const responses = [
      new Response('{"message":"Forbidden"}', { status: 403, headers: { "apigw-requestid": "abc" } }),
      new Response("<html>", { status: 200 }),
      new Response(null, { status: 301, headers: { location: "/" } }),
    ];
    const fetch = async () => responses.shift() ?? expect.fail("It was repeated.");
    const client = createClient({ url: "http://127.0.0.1", key: "key", fetch });
    const errors = [];
    for (let n = 0; n < 3; n++) errors.push(await errorOf(client.createLead(lead)));
    expect(errors.map(({ status, code }) => [status, code])).toEqual([
      [403, "http_error"],
      [200, "http_error"],
      [301, "http_error"],
    ]);
    expect(errors[0]?.message).toBe("POST /api/v1/leads: 403 http_error: Forbidden (request abc)");
  });

  test("follows no redirect, which would take its key to another address", async () => {
    let received = 0;
    const location = await serve((_, outgoing) => {
      received++;
      outgoing.end("{}");
    });
    const url = await serve((_, outgoing) => void outgoing.writeHead(307, { location }).end());
    const client = createClient({ url, key: "key" });
    for (const call of [client.listLeads(), client.createLead(lead)])
      expect(await errorOf(call)).toMatchObject({ status: 307, code: "http_error" });
    expect(received).toBe(0);
  });

  test.each([
    "",
    "/stage",
  ])("has the path of its route behind a base URL that may end in a slash: %j", async (path) => {
    const urls: string[] = [];
    const fetch: typeof globalThis.fetch = async (input) => {
      urls.push(String(input));
      return new Response("{}");
    };
    for (const end of ["", "/"])
      await createClient({ url: `http://127.0.0.1${path}${end}`, key: "key", fetch }).listLeads();
    expect(urls).toEqual(Array(2).fill(`http://127.0.0.1${path}/api/v1/leads`));
  });

  test("takes a date as Retry-After by the clock that wrote it", async () => {
    const date = "Wed, 25 Nov 2026 02:00:00 GMT";
    const headers = { date, "retry-after": "Wed, 25 Nov 2026 02:05:00 GMT" };
    const fetch = async () => new Response("", { status: 503, headers });
    const client = createClient({ url: "http://127.0.0.1", key: "key", fetch });
    expect(await errorOf(client.listLeads())).toMatchObject({ status: 503, retryAfter: 300 });
  });

  test("repeats an attempt that takes too long", async () => {
    let requests = 0;
    const url = await serve((_, outgoing) => {
      if (++requests > 1) outgoing.writeHead(201).end('{"id":"lead_1"}');
    });
    const client = createClient({ url, key: "key", timeout: 200, wait: async () => {} });
    expect(await client.createLead(lead)).toEqual({ id: "lead_1" });
    expect(requests).toBeGreaterThan(1);
  });
});

describe("pages", () => {
  test("have each lead once, the oldest first, while leads are created, some of them late", async () => {
    const { api, client, clock, stats } = await startHostileServer();
    const start = clock.time;
    for (let n = 0; n < 950; n++) api.addLead(newId("lead", ++clock.time), lead);
    const [seen, late]: [string[], string[]] = [[], []];
    for await (const { data } of client.leadPages()) {
      seen.push(...data.map(({ id }) => id));
      if (seen.length > 900) continue;
      clock.time += 1000;
      for (let n = 0; n < 5; n++) api.addLead(newId("lead", ++clock.time), lead);
      // It has a place on a page that has been read, and moves all others.
      late.push(api.addLead(newId("lead", start + late.length), lead).id);
    }
    expect(late).toHaveLength(9);
    expect(seen).toEqual([...api.leads.keys()].filter((id) => !late.includes(id)).sort());
    expect(stats.requests).toBe(11);
  });

  test("do not end at a page that is short, because a lead on it was erased, while the total has more", async () => {
    const rows = Array.from({ length: 150 }, (_, n) => ({
      id: `lead_${n}`,
      createdAt: "2026-11-25T02:00:00.000Z",
    }));
    const fetch: typeof globalThis.fetch = async (input) => {
      const page = Number(new URL(String(input)).searchParams.get("page"));
      const data = page === 1 ? rows.slice(0, 99) : rows.slice(100 * (page - 1), 100 * page);
      return Response.json({ data, pagination: { page, limit: 100, total: 150 } });
    };
    const client = createClient({ url: "http://127.0.0.1", key: "key", fetch });
    const ids: string[] = [];
    for await (const { data } of client.leadPages()) ids.push(...data.map(({ id }) => id));
    expect(ids.at(-1)).toBe("lead_149");
  });
});

test("messages are read newest first, until there are no more, and none is read that is not needed", async () => {
  const { api, client, clock, stats } = await startHostileServer();
  const { id: leadId } = api.addLead(newId("lead"), lead);
  const sent = Array.from({ length: 250 }, () => {
    clock.time += 7;
    return api.addMessage({ leadId, channel: "web", message: `At ${clock.time}` });
  });
  const read = [];
  for await (const message of client.messages(sent[0]?.conversationId ?? "")) {
    // What is sent meanwhile is newer.
    if (read.push(message) === 1) api.addMessage({ leadId, channel: "web", message: "Later" });
  }
  expect(read).toEqual(sent.toReversed());
  expect(stats.requests).toBe(3);
  for await (const { id } of client.messages(sent[0]?.conversationId ?? "")) if (id) break;
  for await (const _ of client.messages("conv_1")) expect.fail("There is none.");
  expect(stats.requests).toBe(5);
});

test("leads are found by external ids, as many in a request as fit into its header", async () => {
  const { api, client, stats } = await startHostileServer();
  const ids = Array.from({ length: 250 }, (_, n) => `crm-${n}`);
  for (const externalId of ids) api.addLead(newId("lead"), { ...lead, externalId });
  const found = await client.findLeadsByExternalId([...ids, "crm-0", "crm-x"]);
  expect(found).toEqual(new Map([...api.leads.values()].map((one) => [one.externalId, one])));
  expect(stats.requests).toBe(3);
  const lengths: number[] = [];
  const fetch: typeof globalThis.fetch = async (input) => {
    lengths.push(String(input).length);
    return Response.json({ data: [] });
  };
  const other = createClient({ url: "http://127.0.0.1", key: "key", fetch });
  await other.findLeadsByExternalId(ids.map((id) => id.padEnd(129, "\u{1F600}")));
  expect(Math.max(...lengths)).toBeLessThan(8000);
});

describe("an event", () => {
  test.each(Object.values(eventDetailExamples))("is read whole, as a detail and as text: $type", (detail) => {
    for (const received of [{ version: "0", detail }, detail, JSON.stringify({ detail })])
      expect(parseEvent(received)).toEqual(detail);
  });

  test("of a later version is left out, and what is no event is refused", () => {
    const [detail] = Object.values(eventDetailExamples);
    expect(parseEvent({ ...detail, version: 2 })).toBeUndefined();
    for (const received of ["{}", "null", "{", { ...detail, id: 1 }, undefined])
      expect(() => parseEvent(received)).toThrow("This is not an event of the API.");
  });
});
