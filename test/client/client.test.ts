import { describe, expect, test, vi } from "vitest";
import {
  ApiError,
  type Client,
  createClient,
  type Lead,
  type Message,
  parseEvent,
} from "../../docs/client/client.ts";
import * as recipes from "../../docs/client/recipes.ts";
import { eventDetailExamples } from "../../lib/openapi/examples.ts";
import { createdAt, newId } from "../../shared/ids.ts";
import { createCopy } from "./copy.ts";

/** The error of a call. */
const errorOf = (call: Promise<unknown>): Promise<ApiError> =>
  call.then(
    () => expect.fail("The call has not failed."),
    (error) => error,
  );

const lead = { name: "Ada" };

/** A problem of the API. */
const problem = (status: number, code: string, more: object = {}, headers: Record<string, string> = {}) =>
  Response.json({ code, detail: "On purpose.", requestId: "abc", ...more }, { status, headers });

const busy = () => problem(503, "busy", {}, { "retry-after": "1" });
const lost = () => {
  throw new TypeError("fetch failed");
};
const cut = () =>
  new Response(new ReadableStream({ pull: (body) => body.error(new TypeError("terminated")) }));

interface Sent {
  readonly url: URL;
  readonly headers: Headers;
  readonly init: RequestInit;
}

/** A client whose n-th request gets the n-th response, and later ones the last response. Only waits take time. */
function clientOf(...responses: readonly ((sent: Sent) => Response | Promise<Response>)[]) {
  const sent: Sent[] = [];
  const waits: number[] = [];
  let time = 0;
  const options = {
    ...{ url: "http://127.0.0.1", key: "key", now: () => time, random: () => 0.5 },
    wait: async (milliseconds: number) => {
      waits.push(milliseconds);
      time += milliseconds;
    },
    fetch: async (input: unknown, init: RequestInit = {}) => {
      const request = { url: new URL(String(input)), headers: new Headers(init.headers), init };
      const response = responses[Math.min(sent.push(request), responses.length) - 1];
      return response?.(request) ?? expect.fail("No response was planned.");
    },
  };
  return { client: createClient(options), options, sent, waits, elapsed: () => time };
}

const keyOf = ({ headers }: Sent) => headers.get("idempotency-key");

describe("a call", () => {
  test("retries with one key, after Retry-After and a growing jitter", async () => {
    const { options, sent, waits } = clientOf(
      () => new Response("<html>", { status: 502 }),
      lost,
      () => problem(429, "rate_limited", {}, { "retry-after": "7" }),
      busy,
      () => problem(500, "internal_error"),
      () => Response.json({ message: "Too Many Requests" }, { status: 429 }),
      cut,
      () => problem(504, "http_error"),
      () => Response.json({ id: "lead_1" }, { status: 201 }),
    );
    const client = createClient({ ...options, within: 300_000 });
    expect(await client.createLead(lead)).toEqual({ id: "lead_1" });
    expect(waits).toEqual([500, 1000, 7000 + 2000, 1000 + 4000, 8000, 15_000, 15_000, 15_000]);
    expect(new Set(sent.map(keyOf)).size).toBe(1);
    expect(new Set(sent.map(({ init }) => init.body))).toEqual(new Set([JSON.stringify(lead)]));
  });

  test("gives up within two minutes, with the last problem and the error of the last attempt", async () => {
    const { client, elapsed } = clientOf(busy, busy, lost);
    const error = await errorOf(client.listLeads({ email: "ada@example.com" }));
    expect(elapsed()).toBeGreaterThan(60_000);
    expect(elapsed()).toBeLessThan(120_000);
    expect(error).toBeInstanceOf(ApiError);
    const last = { status: 503, code: "busy", requestId: "abc", retryAfter: 1, errors: [] };
    expect(error).toMatchObject(last);
    const cause = { status: undefined, code: "no_response", cause: { name: "TypeError" } };
    expect(error.cause).toMatchObject(cause);
    expect(error.message).toMatch(
      /^Gave up after \d+ attempts: GET \/api\/v1\/leads: 503 busy: On purpose\. \(request abc\)$/,
    );
  });

  test("ends an attempt at its timeout, or at the end of the call if that is earlier", async () => {
    const limits = vi.spyOn(AbortSignal, "timeout");
    const { client } = clientOf(busy, () => Response.json({}));
    await client.listLeads({}, { within: 16_000 });
    expect(limits.mock.calls).toEqual([[15_000], [16_000 - 1500]]);
  });

  test("repeats an attempt that takes too long", async () => {
    const { options } = clientOf(
      ({ init: { signal } }) =>
        new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
      () => Response.json({ id: "lead_1" }),
    );
    expect(await createClient({ ...options, timeout: 1 }).createLead(lead)).toEqual({ id: "lead_1" });
  });

  test("has a key of its own, which its error has when the call gives up", async () => {
    const { client, sent } = clientOf(lost);
    const { idempotencyKey = "", code } = await errorOf(client.createLead(lead, { within: 10 }));
    expect(code).toBe("no_response");
    await errorOf(client.createLead(lead, { idempotencyKey, within: 10 }));
    await errorOf(client.createLead(lead, { within: 10 }));
    const [first, second, third] = sent.map(keyOf);
    expect([first, second]).toEqual([idempotencyKey, idempotencyKey]);
    expect(third).not.toBe(first);
  });

  test("shows by the status whether an update created the lead", async () => {
    const lead = { id: "lead_1" };
    const { client, sent } = clientOf(...[201, 200].map((status) => () => Response.json(lead, { status })));
    const update = () => client.updateLead({ externalId: "crm-1", status: "qualified" });
    expect([await update(), await update()]).toEqual([
      { lead, created: true },
      { lead, created: false },
    ]);
    expect(sent[0]?.url.search).toBe("?ifExists=update");
  });

  test.each([
    [400, "invalid_input", { errors: [{ field: "name", code: "required" }] }],
    [404, "lead_not_found", {}],
    [409, "lead_exists", { id: "lead_1" }],
  ])("does not retry if another attempt would be refused in the same way: %i %s %j", async (status, code, more) => {
    const { client, sent } = clientOf(() => problem(status, code, more));
    const message = `POST /api/v1/leads: ${status} ${code}: On purpose. (request abc)`;
    expect(await errorOf(client.createLead(lead))).toMatchObject({ status, code, message, ...more });
    expect(sent).toHaveLength(1);
  });

  test.each([
    [403, '{"message":"Forbidden"}', "http_error: Forbidden"],
    [200, "<html>", "http_error: the response is not JSON"],
    [301, null, "http_error: the response is not JSON"],
  ])("does not retry after %i %s, which is no response of the API", async (status, body, text) => {
    const headers = { "apigw-requestid": "abc", location: "/" };
    const { client, sent } = clientOf(() => new Response(body, { status, headers }));
    const error = await errorOf(client.createLead(lead));
    expect(error).toMatchObject({ status, code: "http_error" });
    expect(error.message).toBe(`POST /api/v1/leads: ${status} ${text} (request abc)`);
    expect(sent).toHaveLength(1);
  });

  test("follows no redirect, which would take its key to another address", async () => {
    const { client, sent } = clientOf(() => Response.json({}));
    await client.listLeads();
    await client.createLead(lead);
    expect(sent.map(({ init }) => init.redirect)).toEqual(["manual", "manual"]);
  });

  test("appends the path of its route to a base URL with or without a slash at its end", async () => {
    const { options, sent } = clientOf(() => Response.json({}));
    for (const path of ["", "/", "/stage", "/stage/"])
      await createClient({ ...options, url: `http://127.0.0.1${path}` }).listLeads();
    const route = "/api/v1/leads";
    expect(sent.map(({ url }) => url.pathname)).toEqual([route, route, `/stage${route}`, `/stage${route}`]);
  });

  test("compares a date in Retry-After with the date of the response", async () => {
    const date = "Wed, 25 Nov 2026 02:00:00 GMT";
    const headers = { date, "retry-after": "Wed, 25 Nov 2026 02:05:00 GMT" };
    const { client } = clientOf(() => new Response("", { status: 503, headers }));
    expect(await errorOf(client.listLeads())).toMatchObject({ status: 503, retryAfter: 300 });
  });
});

const start = Date.parse("2026-11-25T02:00:00Z");

/** Leads, a second apart unless another pause is given. */
const leadsOf = (count: number, pause = 1000) =>
  Array.from({ length: count }, (_, n) => {
    const id = newId("lead", start + n * pause);
    return { id, name: `Ada ${n}`, createdAt: createdAt(id) } as Lead;
  });

/** Lists some leads, the oldest first. */
const listOf = (rows: readonly Lead[]) => (sent: Sent) => {
  const { createdAfter = "", page, limit } = Object.fromEntries(sent.url.searchParams);
  const found = rows.filter(({ id }) => createdAt(id) >= new Date(createdAfter).toISOString());
  found.sort((a, b) => (a.id < b.id ? -1 : 1));
  const from = (Number(page) - 1) * Number(limit);
  const pagination = { page: Number(page), limit: Number(limit), total: found.length };
  return Response.json({ data: found.slice(from, from + Number(limit)), pagination });
};

async function idsOf(pages: ReturnType<Client["leadPages"]>, onPage = () => {}) {
  const ids: string[] = [];
  for await (const { data } of pages) {
    ids.push(...data.map(({ id }) => id));
    onPage();
  }
  return ids;
}

describe("pages", () => {
  test("have each row once, the oldest first, while rows are added, some of them late", async () => {
    const rows = leadsOf(250);
    const late = newId("lead", start - 1000);
    const { client, sent } = clientOf(listOf(rows));
    const seen = await idsOf(client.leadPages(), () => {
      if (rows.length > 255) return;
      // The late row belongs to a page that has been read, and moves all other rows.
      rows.push(
        { ...rows[0], id: late, createdAt: createdAt(late) } as Lead,
        ...leadsOf(rows.length + 3).slice(-3),
      );
    });
    expect(seen).toEqual(rows.map(({ id }) => id).filter((id) => id !== late));
    expect(sent).toHaveLength(3);
  });

  test("have each row once if more than 100 rows have the same time", async () => {
    const rows = leadsOf(250, 0);
    const { client } = clientOf(listOf(rows));
    expect(await idsOf(client.leadPages())).toEqual(rows.map(({ id }) => id).sort());
  });

  test("do not end at a page that is short because of an erased row, while the total has more", async () => {
    const rows = leadsOf(150, 0);
    const { client } = clientOf(async (sent) => {
      const { data, ...rest } = (await listOf(rows)(sent).json()) as { data: readonly Lead[] };
      return Response.json({ ...rest, data: data.slice(1) });
    });
    expect(await idsOf(client.leadPages())).toHaveLength(148);
  });
});

test("messages are read newest first, until there are no more, and only pages that are needed are read", async () => {
  const all = Array.from({ length: 250 }, (_, n) => ({ id: newId("msg", start + n) }) as Message).reverse();
  const { client, sent } = clientOf(({ url }) => {
    const { id, include, messageLimit, messagesBefore = "msg_~" } = Object.fromEntries(url.searchParams);
    expect({ id, include }).toEqual({ id: "conv_1", include: "messages" });
    const messages = all.filter((message) => message.id < messagesBefore).slice(0, Number(messageLimit));
    return Response.json({ data: [{ id, messages }] });
  });
  const read = [];
  for await (const message of client.messages("conv_1")) read.push(message);
  expect(read).toEqual(all);
  expect(sent).toHaveLength(3);
  for await (const { id } of client.messages("conv_1")) if (id) break;
  expect(sent).toHaveLength(4);
  const { client: empty } = clientOf(() => Response.json({ data: [] }));
  for await (const _ of empty.messages("conv_1")) expect.fail("There is none.");
});

test("leads are found by external ids, with as many ids in a request as its URL can hold", async () => {
  const ids = Array.from({ length: 250 }, (_, n) => `crm-${n}`);
  const { client, sent } = clientOf(({ url }) => {
    const wanted = url.searchParams.get("externalId")?.split(",") ?? [];
    return Response.json({ data: wanted.map((externalId) => ({ externalId })) });
  });
  const found = await client.findLeadsByExternalId([...ids, "crm-0"]);
  expect(found).toEqual(new Map(ids.map((externalId) => [externalId, { externalId }])));
  expect(sent).toHaveLength(3);
  await client.findLeadsByExternalId(ids.map((id) => id.padEnd(129, "\u{1F600}")));
  expect(Math.max(...sent.map(({ url }) => url.href.length))).toBeLessThan(8000);
});

describe("an event", () => {
  test.each(Object.values(eventDetailExamples))("is read whole, as a detail and as text: $type", (detail) => {
    for (const received of [{ version: "0", detail }, detail, JSON.stringify({ detail })])
      expect(parseEvent(received)).toEqual(detail);
  });

  test("of a later version is ignored, and anything that is no event is refused", () => {
    const [detail] = Object.values(eventDetailExamples);
    expect(parseEvent({ ...detail, version: 2 })).toBeUndefined();
    for (const received of ["{}", "null", "{", { ...detail, id: 1 }, undefined])
      expect(() => parseEvent(received)).toThrow("This is not an event of the API.");
  });
});

describe("a message", () => {
  const detail = eventDetailExamples["message.sent"] as Record<
    "id" | "conversationId" | "channel" | "to",
    string
  >;
  const { id, conversationId, channel } = detail;
  const answer = { delivery: "sent", providerId: "wamid.1" } as const;
  const memoryOf = (state: Awaited<ReturnType<recipes.Delivered["claim"]>>) => ({
    claim: vi.fn(async () => state),
    ...{ add: vi.fn(async () => {}), release: vi.fn(async () => {}) },
  });
  const calls = (memory: ReturnType<typeof memoryOf>) =>
    [memory.add, memory.release].map((it) => it.mock.calls);
  const bodies = (sent: readonly Sent[]) => sent.map(({ init }) => JSON.parse(String(init.body)));
  const stored = () => clientOf(() => Response.json({}));

  test("is delivered only by the connector of its channel, remembered, and reported without an idempotency key", async () => {
    const [memory, deliver] = [memoryOf("claimed"), vi.fn(async () => answer)];
    const { client, sent } = stored();
    await recipes.deliverMessage(client, { detail }, "another", memory, deliver);
    expect(memory.claim).not.toHaveBeenCalled();
    await recipes.deliverMessage(client, { detail }, channel, memory, deliver);
    expect(deliver.mock.calls).toEqual([[detail]]);
    expect(calls(memory)).toEqual([[[id, answer]], []]);
    expect(bodies(sent)).toEqual([{ id, conversationId, ...answer }]);
    expect(sent.map((one) => [one.url.search, keyOf(one)])).toEqual([["?update=message", null]]);
  });

  test("is released for a retry if its delivery fails", async () => {
    const memory = memoryOf("claimed");
    const deliver = () => Promise.reject(new Error("The channel is down."));
    const delivering = recipes.deliverMessage(stored().client, { detail }, channel, memory, deliver);
    await expect(delivering).rejects.toThrow("is down");
    expect(calls(memory)).toEqual([[], [[id]]]);
  });

  test("is not sent twice: the call fails while it is being delivered, and after that it is only reported again", async () => {
    const [isBusy, isDelivered, deliver] = [memoryOf("busy"), memoryOf(answer), vi.fn(async () => answer)];
    const { client, sent } = stored();
    await expect(recipes.deliverMessage(client, { detail }, channel, isBusy, deliver)).rejects.toThrow(
      `The message ${id} is being delivered.`,
    );
    await recipes.deliverMessage(client, { detail }, channel, isDelivered, deliver);
    expect([...calls(isBusy), ...calls(isDelivered), deliver.mock.calls].flat()).toEqual([]);
    expect(bodies(sent)).toEqual([{ id, conversationId, ...answer }]);
  });

  test("is reported with the beginning of a long error, and not in an unknown state; a report after an erasure is ignored", async () => {
    const { client, sent } = clientOf(
      () => problem(404, "message_not_found"),
      () => problem(400, "invalid_input"),
    );
    await recipes.reportDelivery(client, { id, conversationId, delivery: "deleted" as "sent" });
    const report = { id, conversationId, delivery: "failed", deliveryError: "😀".repeat(501) } as const;
    await recipes.reportDelivery(client, report);
    expect(bodies(sent)).toEqual([{ ...report, deliveryError: "😀".repeat(500) }]);
    await expect(recipes.reportDelivery(client, report)).rejects.toMatchObject({ code: "invalid_input" });
  });

  test("to a lead without an address on the channel is reported as failed", async () => {
    const { client, sent } = stored();
    const { to: _, ...unaddressed } = detail;
    await recipes.deliverMessage(client, unaddressed, channel, memoryOf("claimed"), () =>
      expect.fail("It has no address."),
    );
    const deliveryError = "The lead has no address on this channel.";
    expect(bodies(sent)).toEqual([{ id, conversationId, delivery: "failed", deliveryError }]);
  });
});

test("findOrCreateLead fails at a 409 that names no lead", async () => {
  const { client } = clientOf(() => problem(409, "idempotency_key_reused"));
  const error = await errorOf(recipes.findOrCreateLead(client, { ...lead, externalId: "crm-1" }));
  expect(error).toMatchObject({ status: 409, code: "idempotency_key_reused" });
});

const since = { newest: "2026-11-25T02:00:00.000Z", seen: [] };
const nothing = async () => {};

test.each([
  ["leads", recipes.syncLeads],
  ["conversations", recipes.syncConversations],
] as const)("a synchronization of %s passes on each change once, even if it is listed a minute late, with one request unless too many changed", async (_, sync) => {
  const rows = new Map<string, string>();
  const changeAt = (id: string, seconds: number) => {
    rows.set(id, new Date(start + seconds * 1000).toISOString());
  };
  const { client, sent } = clientOf(({ url }) => {
    const bound = (end: string) => [...url.searchParams].find(([name]) => name.endsWith(end)) ?? ["", "9"];
    const [[field, after], [, before]] = [bound("After"), bound("Before")] as const;
    const found = [...rows]
      .filter(([, time]) => time >= after && time < before)
      .sort(([, a], [, b]) => (a < b ? -1 : 1));
    const message = "must be later: too many rows would be read";
    const errors = [{ in: "query", field, code: "out_of_range", message }];
    if (found.length > 4) return problem(400, "invalid_input", { errors });
    const data = found.map(([id, time]) => ({ id, updatedAt: time, lastMessageAt: time }));
    return Response.json({ data, pagination: { total: found.length } });
  });
  let position = since;
  const look = async () => {
    const ids: string[] = [];
    const store = async (some: readonly { readonly id: string }[]) =>
      void ids.push(...some.map(({ id }) => id));
    position = JSON.parse(JSON.stringify(await sync(client, position, store)));
    return ids;
  };
  changeAt("a", 5);
  changeAt("b", 70);
  expect(await look()).toEqual(["a", "b"]);
  changeAt("c", 10);
  changeAt("a", 80);
  expect(await look()).toEqual(["c", "a"]);
  expect(await look()).toEqual([]);
  expect(sent).toHaveLength(3);
  // After an import, the service refuses to list all rows at once.
  const imported = Array.from({ length: 20 }, (_, n) => `row ${n}`);
  for (const [n, id] of imported.entries()) changeAt(id, 1000 + n);
  expect(await look()).toEqual(imported);
  expect(await look()).toEqual([]);
});

const sendForm = (client: Client) => recipes.findOrCreateLead(client, { name: "Ada", externalId: "crm-1" });

const received = { id: "wamid.1", channel: "whatsapp", from: "4915112345678", name: "Ada", text: "Hi" };

test.each<[string, (client: Client) => Promise<unknown>]>([
  ["findOrCreateLead", (client) => sendForm(client).then(() => sendForm(client))],
  ["syncLeads", (client) => recipes.syncLeads(client, since, nothing)],
  ["syncConversations", (client) => recipes.syncConversations(client, since, nothing)],
  ["greetLeads", (client) => recipes.greetLeads(client, "form", { name: "welcome", language: "en_US" })],
  ["receiveMessage", (client) => recipes.receiveMessage(client, received)],
  ["readInbox", (client) => recipes.readInbox(client, {})],
  ["reconcile", (client) => recipes.createMirror(client, createCopy().copy).reconcile()],
])("%s fails with the error of the API if its second request is always refused", async (_, run) => {
  const data = leadsOf(100).map((row) => ({ ...row, leadId: row.id, lastMessageAt: row.createdAt }));
  const { client } = clientOf(() => Response.json({ data, pagination: { total: 101 } }), busy);
  await expect(run(client)).rejects.toMatchObject({ status: 503, code: "busy" });
});

describe("a mirror", () => {
  const [row] = leadsOf(1) as [Lead];
  /** A client whose reads by ids find some leads, and whose list has the same leads unless others are given. */
  const clientWith = (found: readonly Lead[], listed = async () => found) => {
    const pagination = { page: 1, limit: 100, total: 0 };
    return {
      async *leadPages() {
        yield { data: await listed(), pagination };
      },
      async *conversationPages() {},
      findLeads: async (ids: Iterable<string>) => {
        const wanted = [...ids];
        return new Map(found.filter(({ id }) => wanted.includes(id)).map((one) => [one.id, one]));
      },
      findConversations: async () => new Map(),
    } as unknown as Client;
  };

  test("does not overwrite an event with an older page that arrives after it", async () => {
    const [pageRead, pageArrives] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const listed = async () => {
      pageRead.resolve();
      await pageArrives.promise;
      return [row];
    };
    const { copy, leads } = createCopy();
    const mirror = recipes.createMirror(clientWith([{ ...row, status: "booked" }], listed), copy);
    const reconciled = mirror.reconcile();
    await pageRead.promise;
    const event = parseEvent({ ...eventDetailExamples["lead.updated"], leadId: row.id });
    const applied = mirror.applyEvents(event ? [event] : []);
    // Enough time for the event, if it did not wait for the page.
    await new Promise((resolve) => setImmediate(resolve));
    pageArrives.resolve();
    await Promise.all([reconciled, applied]);
    expect(leads.get(row.id)?.status).toBe("booked");
  });

  test("keeps an existing row that is missing from the list, and removes a row that does not exist any more", async () => {
    const { copy, leads } = createCopy();
    const gone = { ...row, id: newId("lead", start) };
    await copy.leads.put([row, gone]);
    const unlisted = clientWith([row], async () => []);
    await recipes.createMirror(unlisted, copy).reconcile();
    expect([...leads.keys()]).toEqual([row.id]);
  });

  test("deletes an erased lead, and does not store it again", async () => {
    const { copy, leads } = createCopy();
    await copy.leads.put([row]);
    const mirror = recipes.createMirror(clientWith([row]), copy);
    const erased = parseEvent({ ...eventDetailExamples["lead.erased"], leadId: row.id });
    await mirror.applyEvents(erased ? [erased] : []);
    await mirror.reconcile();
    expect(leads.size).toBe(0);
  });
});
