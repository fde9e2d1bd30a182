import { setImmediate } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  ApiError,
  type Client,
  type Conversation,
  createClient,
  type Lead,
  parseEvent,
} from "../../docs/client/client.ts";
import {
  createMirror,
  deliverMessage,
  findOrCreateLead,
  greetLeads,
  readInbox,
  syncConversations,
  syncLeads,
} from "../../docs/client/recipes.ts";
import { eventDetailExamples } from "../../lib/openapi/examples.ts";
import { pick, seeded, shuffled } from "../support/random.ts";
import { createCopy } from "./copy.ts";
import { createHostileApi, type FakeApi, type FaultName, lost, refused } from "./hostile-api.ts";

/** The error of a call. */
const errorOf = (call: Promise<unknown>): Promise<ApiError> =>
  call.then(
    () => expect.fail("The call has not failed."),
    (error) => error,
  );

const lead = { name: "Ada" };
const minute = 60_000;

/** A client for which these are the responses to its requests, in their order. */
function answered(...responses: readonly Response[]) {
  const left = [...responses];
  const fetch = vi.fn<typeof globalThis.fetch>(async () => left.shift() ?? expect.fail("It was repeated."));
  return { fetch, client: createClient({ url: "http://127.0.0.1", key: "key", fetch }) };
}

describe("a call", () => {
  test("retries after Retry-After and more and more jitter", async () => {
    const planned: FaultName[] = [
      ...(["bad gateway", "lost", "rate limited", "busy"] as const),
      ...(["failed", "throttled", "cut", "broken"] as const),
    ];
    const { api, options } = createHostileApi((n) => planned[n - 1]);
    const wait = vi.fn(options.wait);
    const client = createClient({ ...options, wait, random: () => 0.5, within: 300_000 });
    const created = await client.createLead(lead);
    const waits = wait.mock.calls.map(([milliseconds]) => milliseconds);
    expect(waits).toEqual([500, 1000, 7000 + 2000, 1000 + 4000, 8000, 15_000, 15_000, 15_000]);
    expect([...api.leads.values()]).toEqual([created]);
  });

  test("gives up in time, with what the last response said and the error of the last attempt", async () => {
    const { api, client } = createHostileApi((n) => (n < 5 ? "busy" : "broken"));
    const start = api.time;
    const error = await errorOf(client.listLeads({ email: "ada@example.com" }));
    // Within two minutes, unless a caller says otherwise, by the clock that only waits move.
    expect(api.time - start).toBeGreaterThan(60_000);
    expect(api.time - start).toBeLessThan(120_000);
    expect(error).toBeInstanceOf(ApiError);
    const busy = { status: 503, code: "busy", requestId: "request-4", retryAfter: 1, errors: [] };
    expect(error).toMatchObject(busy);
    const cause = { status: undefined, code: "no_response", cause: { name: "TypeError" } };
    expect(error.cause).toMatchObject(cause);
    expect(error.message).toMatch(
      /^Gave up after \d+ attempts: GET \/api\/v1\/leads: 503 busy: Busy\. \(request request-4\)$/,
    );
  });

  test("gives up at once when the service wants a retry later than that", async () => {
    const { client, stats } = createHostileApi(() => "rate limited");
    const error = await errorOf(client.listLeads({}, { within: 5000 }));
    expect(error).toMatchObject({ status: 429, code: "rate_limited", retryAfter: 7 });
    expect(stats.requests).toBe(1);
  });

  test("ends an attempt with its timeout, or with the call if that is earlier", async () => {
    const limits = vi.spyOn(AbortSignal, "timeout");
    const { client } = createHostileApi((n) => (n === 1 ? "late" : undefined));
    await client.createLead(lead, { within: 24_000 });
    expect(limits.mock.calls[0]).toEqual([15_000]);
    expect(Number(limits.mock.calls[1])).toBeLessThanOrEqual(24_000 - 15_000);
  });

  test("repeats an attempt that takes too long", async () => {
    const fetch: typeof globalThis.fetch = (_, init) =>
      new Promise((resolve, reject) => {
        if (fetches++ > 0) resolve(Response.json({ id: "lead_1" }, { status: 201 }));
        else init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
      });
    let fetches = 0;
    const options = { url: "http://127.0.0.1", key: "key", fetch, wait: async () => {} };
    expect(await createClient({ ...options, timeout: 1 }).createLead(lead)).toEqual({ id: "lead_1" });
  });

  test("has the key with which a POST that was given up can be sent again", async () => {
    let down = true;
    const { api, client } = createHostileApi(() => (down ? "lost" : undefined));
    const { idempotencyKey = "", code } = await errorOf(client.createLead(lead));
    expect(code).toBe("no_response");
    down = false;
    const created = await client.createLead(lead, { idempotencyKey });
    await client.createLead(lead);
    expect([...api.leads.keys()]).toHaveLength(2);
    expect(api.leads.get(created.id)).toEqual(created);
  });

  test("creates or updates a lead once, whatever response is lost, and says which", async () => {
    const { api, client, stats } = createHostileApi((n) => (n % 2 === 1 ? "lost" : undefined));
    const externalId = "crm-1";
    const first = await client.updateLead({ ...lead, externalId });
    expect(first).toEqual({ lead: api.leads.get(first.lead.id), created: true });
    const changes = { status: "qualified", metadata: { plan: "pro" } } as const;
    const second = await client.updateLead({ externalId, ...changes });
    expect(second).toEqual({ lead: { ...first.lead, ...changes }, created: false });
    expect([stats.requests, api.events.length]).toEqual([4, 2]);
  });

  test("ends at a refusal that another attempt would not change, and says what the API says", async () => {
    const { client, stats } = createHostileApi();
    expect(await errorOf(client.createLead({ name: 1 } as never))).toMatchObject({
      ...{ status: 400, code: "invalid_input", errors: [{ field: "name", code: "required" }] },
      ...{ requestId: "request-1", message: expect.stringContaining("(request request-1)") },
    });
    const message = { leadId: "lead_1", channel: "whatsapp", message: "Hello" };
    expect(await errorOf(client.sendMessage(message))).toMatchObject({ status: 404, code: "lead_not_found" });
    const { id } = await client.createLead({ ...lead, externalId: "crm-1" });
    const again = client.createLead({ ...lead, externalId: "crm-1" });
    expect(await errorOf(again)).toMatchObject({ status: 409, code: "lead_exists", id });
    expect(stats.requests).toBe(4);
  });

  test.each([
    [403, '{"message":"Forbidden"}', "http_error: Forbidden"],
    [200, "<html>", "http_error: the response is not JSON"],
    [301, null, "http_error: the response is not JSON"],
  ])("ends at %i %s, which is no response of the API", async (status, body, text) => {
    const headers = { "apigw-requestid": "abc", location: "/" };
    const { client } = answered(new Response(body, { status, headers }));
    const error = await errorOf(client.createLead(lead));
    expect(error).toMatchObject({ status, code: "http_error" });
    expect(error.message).toBe(`POST /api/v1/leads: ${status} ${text} (request abc)`);
  });

  test("follows no redirect, which would take its key to another address", async () => {
    for (const call of ["listLeads", "createLead"] as const) {
      const { client, fetch } = answered(Response.json({ id: "lead_1" }));
      await client[call](lead as never);
      expect(fetch.mock.lastCall?.[1]).toMatchObject({ redirect: "manual" });
    }
  });

  test.each([
    "",
    "/stage",
  ])("has the path of its route behind a base URL that may end in a slash: %j", async (path) => {
    for (const end of ["", "/"]) {
      const { fetch } = answered(Response.json({}));
      await createClient({ url: `http://127.0.0.1${path}${end}`, key: "key", fetch }).listLeads();
      expect(String(fetch.mock.lastCall?.[0])).toBe(`http://127.0.0.1${path}/api/v1/leads`);
    }
  });

  test("takes a date as Retry-After by the clock that wrote it", async () => {
    const date = "Wed, 25 Nov 2026 02:00:00 GMT";
    const headers = { date, "retry-after": "Wed, 25 Nov 2026 02:05:00 GMT" };
    const { client } = answered(new Response("", { status: 503, headers }));
    expect(await errorOf(client.listLeads())).toMatchObject({ status: 503, retryAfter: 300 });
  });
});

describe("pages", () => {
  test("have each lead once, the oldest first, while leads are created, some of them late", async () => {
    const { api, client, stats } = createHostileApi();
    const start = api.time;
    for (let n = 0; n < 950; n++) api.addLead();
    const [seen, late]: [string[], string[]] = [[], []];
    for await (const { data } of client.leadPages()) {
      seen.push(...data.map(({ id }) => id));
      if (seen.length > 900) continue;
      api.time += 1000;
      for (let n = 0; n < 5; n++) api.addLead();
      // It has a place on a page that has been read, and moves all others.
      late.push(api.addLead(lead, { at: start + late.length }).id);
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
  const { api, client, stats } = createHostileApi();
  const { id: leadId } = api.addLead();
  const sent = Array.from({ length: 250 }, () => {
    api.time += 7;
    return api.addMessage({ leadId, channel: "web", message: `At ${api.time}` });
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
  const { api, client, stats } = createHostileApi();
  const ids = Array.from({ length: 250 }, (_, n) => `crm-${n}`);
  for (const externalId of ids) api.addLead({ ...lead, externalId });
  const found = await client.findLeadsByExternalId([...ids, "crm-0", "crm-x"]);
  expect(found).toEqual(new Map([...api.leads.values()].map((one) => [one.externalId, one])));
  expect(stats.requests).toBe(3);
  const fetch = vi.fn<typeof globalThis.fetch>(async () => Response.json({ data: [] }));
  const other = createClient({ url: "http://127.0.0.1", key: "key", fetch });
  await other.findLeadsByExternalId(ids.map((id) => id.padEnd(129, "\u{1F600}")));
  expect(Math.max(...fetch.mock.calls.map(([input]) => String(input).length))).toBeLessThan(8000);
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

describe("on a hostile API, which is down for a minute, and with a clock that is ten minutes ahead,", () => {
  /** An API that then does something else to two of five requests. */
  function startHostile() {
    const random = seeded(33);
    const server = createHostileApi((): FaultName | undefined => {
      if (server.api.time < outageEnd) return "busy";
      return random() < 0.4 ? pick(random, [...refused, ...lost]) : undefined;
    });
    const outageEnd = server.api.time + minute;
    vi.useFakeTimers({ toFake: ["Date"], now: server.api.time + 10 * minute });
    onTestFinished(() => {
      const { early, requests, faults } = server.stats;
      expect(early).toBe(0);
      expect(faults).toBeGreaterThan(requests / 4);
    });
    return server;
  }

  test("forms create each lead once, and find it", async () => {
    const { api, client } = startHostile();
    const found = new Map<string, Set<string>>();
    for (let n = 0; n < 90; n++) {
      const externalId = `form-${n % 30}`;
      const id = await findOrCreateLead(client, { name: `Ada ${n}`, externalId });
      found.set(externalId, (found.get(externalId) ?? new Set()).add(id));
    }
    expect([...found.values()].map((ids) => [...ids])).toEqual([...api.leads.keys()].map((id) => [id]));
  });

  test("a synchronization receives each lead", async () => {
    const { api, client } = startHostile();
    const random = seeded(7);
    const received = new Map<string, Lead>();
    const store = async (leads: readonly Lead[]) => {
      for (const lead of leads) received.set(lead.id, lead);
    };
    let since = new Date(api.time - 10_000).toISOString();
    const create = () => {
      // A route stores a lead up to five seconds after the time in its id.
      api.addLead(lead, { at: api.time - Math.floor(5000 * random()) });
      api.time += Math.floor(2000 * random());
    };
    for (let run = 0; run < 10; run++) {
      for (let n = 350 * random(); n > 0; n--) create();
      since = await syncLeads(client, since, async (leads) => {
        create();
        await store(leads);
        // It hides no other one.
        const erased = leads[0]?.id ?? "";
        api.eraseLead(erased);
        received.delete(erased);
      });
    }
    api.time += 20_000;
    await syncLeads(client, since, store);
    expect(received).toEqual(api.leads);
  });

  test("an inbox without events receives each conversation with its last message", async () => {
    const { api, client } = startHostile();
    const random = seeded(11);
    api.indexLag = () => 10_000 * random();
    const leadIds = Array.from({ length: 300 }, () => api.addLead().id);
    // A route stores a message up to five seconds after its time, by a clock that differs by two.
    const send = (leadId: string, from = -7000, to = 2000) =>
      api.addMessage(
        { leadId, channel: "web", message: "Hello" },
        api.time + Math.floor(from + (to - from) * random()),
      );
    let since = new Date(api.time).toISOString();
    api.time += 10_000;
    // Those that were copied from another table have exactly one time.
    for (const leadId of leadIds.slice(0, 150)) send(leadId, 0, 0);
    const received = new Map<string, Conversation>();
    let rows = 0;
    let meanwhile = () => {
      for (let n = 0; n < 20; n++) send(pick(random, leadIds));
    };
    const poll = async () => {
      const listed = new Set<string>();
      since = await syncConversations(client, since, async (conversations) => {
        rows += conversations.length;
        for (const conversation of conversations) {
          expect(listed).not.toContain(JSON.stringify(conversation));
          listed.add(JSON.stringify(conversation));
          received.set(conversation.id, conversation);
        }
        // These move while the pages are read.
        if (rows > 150) meanwhile();
      });
    };
    for (let run = 0; run < 15; run++) {
      for (let n = 300 * random(); n > 0; n--, api.time += Math.floor(400 * random()))
        send(pick(random, leadIds));
      await poll();
    }
    api.time += 20_000;
    meanwhile = () => {};
    await poll();
    expect(received).toEqual(api.conversations);
  });

  test("a connector sends and delivers each message once", async () => {
    const { api, client } = startHostile();
    for (let n = 0; n < 120; n++) api.addLead({ name: `Ada ${n}`, source: "website" });
    api.time += 2000;
    await greetLeads(client, "website");
    await greetLeads(client, "website");
    expect(api.messages.map(({ leadId }) => leadId).sort()).toEqual([...api.leads.keys()].sort());
    const random = seeded(9);
    const [states, texts] = [new Map<string, "busy" | "delivered">(), [] as string[]];
    const memory = {
      claim: async (id: string) => {
        const state = states.get(id);
        if (!state) states.set(id, "busy");
        return state ?? "claimed";
      },
      add: async (id: string) => void states.set(id, "delivered"),
      release: async (id: string) => void states.delete(id),
    };
    const deliver = async ({ message }: { message: string }) => {
      await setImmediate();
      if (random() < 0.4) throw new Error("The channel is down.");
      texts.push(message);
    };
    // Some deliveries overlap. What fails comes again, later.
    for (let waiting = shuffled(random, [...api.events, ...api.events]); waiting.length > 0; ) {
      const results = await Promise.allSettled(
        waiting.map((event) => deliverMessage({ detail: event }, "whatsapp", memory, deliver)),
      );
      waiting = waiting.filter((_, n) => results[n]?.status === "rejected");
    }
    expect(texts.sort()).toEqual(api.messages.map(({ message }) => message).sort());
  });
});

test("an event that is being delivered is a failure for its sender, and is neither delivered nor released", async () => {
  const detail = eventDetailExamples["message.sent"] as { readonly id: string; readonly channel: string };
  const deliver = vi.fn(async () => {});
  for (const state of ["busy", "delivered"] as const) {
    const memory = { claim: async () => state, add: vi.fn(async () => {}), release: vi.fn(async () => {}) };
    const delivering = deliverMessage({ detail }, detail.channel, memory, deliver);
    if (state === "busy")
      await expect(delivering).rejects.toThrow(`The message ${detail.id} is being delivered.`);
    else await delivering;
    expect([memory.add, memory.release, deliver].flatMap(({ mock }) => mock.calls)).toEqual([]);
  }
});

test("a form fails with a 409 that names no lead", async () => {
  const body = { code: "idempotency_key_reused", detail: "Another body." };
  const { client } = answered(Response.json(body, { status: 409 }));
  const error = await errorOf(findOrCreateLead(client, { ...lead, externalId: "crm-1" }));
  expect(error).toMatchObject({ status: 409, code: "idempotency_key_reused" });
});

test("an inbox is two requests, and has the newest message first", async () => {
  const { api, client, stats } = createHostileApi();
  for (let n = 0; n < 50; n++) {
    const { id: leadId } = api.addLead({ name: `Ada ${n}` });
    await client.sendMessage({ leadId, channel: "whatsapp", message: "Hello" });
  }
  api.time += 1000;
  const [first, ...others] = api.leads.values();
  await client.sendMessage({ leadId: String(first?.id), channel: "whatsapp", message: "Hello" });
  api.time += 1000;
  const { requests } = stats;
  const inbox = await readInbox(client, { limit: 50 });
  expect(inbox.map(({ lead }) => lead)).toEqual([first, ...others.reverse()]);
  expect(stats.requests - requests).toBe(2);
});

test("a synchronization without a readable Date starts again where it started", async () => {
  const { api, options } = createHostileApi();
  api.addLead();
  const fetch: typeof globalThis.fetch = async (...sent) => new Response((await options.fetch(...sent)).body);
  const since = "2026-01-01T00:00:00.000Z";
  expect(await syncLeads(createClient({ ...options, fetch }), since, async () => {})).toBe(since);
});

test("a lead that is stored behind a synchronization that takes long is received by the next one", async () => {
  const { api, client } = createHostileApi();
  for (let n = 0; n < 101; n++) api.addLead();
  const received = new Set<string>();
  const store = async (leads: readonly Lead[]) => {
    for (const { id } of leads) received.add(id);
    if (api.leads.size === 101) api.addLead({ name: "Late" }, { at: api.time - 5000 });
    api.time += minute;
  };
  const since = new Date(api.time - minute).toISOString();
  await syncLeads(client, await syncLeads(client, since, store), store);
  expect(received).toEqual(new Set(api.leads.keys()));
});

const sendForm = (client: Client) => findOrCreateLead(client, { name: "Ada", externalId: "crm-1" });

test.each<[string, (client: Client) => Promise<unknown>]>([
  ["findOrCreateLead", (client) => sendForm(client).then(() => sendForm(client))],
  ["syncLeads", (client) => syncLeads(client, "2026-11-25T00:00:00Z", async () => {})],
  ["syncConversations", (client) => syncConversations(client, "2026-11-25T00:00:00Z", async () => {})],
  ["greetLeads", (client) => greetLeads(client, "form 0")],
  ["readInbox", (client) => readInbox(client, {})],
  ["reconcile", (client) => createMirror(client, createCopy().copy).reconcile()],
])("%s fails with the error of the API when its second request is refused for good", async (_, run) => {
  const { api, client } = createHostileApi((n) => (n < 2 ? undefined : "busy"));
  for (let n = 0; n < 101; n++) {
    const { id: leadId } = api.addLead({ name: "Ada", source: n === 0 ? "form 0" : "form" });
    api.addMessage({ leadId, channel: "whatsapp", message: "Hello" });
  }
  api.time += 1000;
  await expect(run(client)).rejects.toMatchObject({ status: 503, code: "busy" });
});

describe("a mirror", () => {
  /** What clients and operators of an account do, one thing after the other. */
  function createActors(api: FakeApi, random: () => number) {
    const anyLead = () => pick(random, [...api.leads.keys()]);
    const anyConversation = () => pick(random, [...api.conversations.keys()]);
    const anyActiveLead = () => api.conversations.get(anyConversation())?.leadId ?? "";
    const send = (leadId: string) =>
      api.leads.has(leadId) &&
      api.addMessage({ leadId, channel: pick(random, ["whatsapp", "instagram"]), message: "Hello" });
    const actions = [
      () => api.addLead(),
      () => api.addLead(lead, { at: api.time - Math.floor(5e8 * random()), imported: true }),
      () => api.changeLead(anyLead(), { status: pick(random, ["new", "qualified", "booked"]) }),
      () => api.eraseLead(anyLead()),
      () => api.eraseLead(anyActiveLead()),
      () => api.closeConversation(anyConversation()),
      () => send(anyLead()),
      () => send(anyActiveLead()),
    ];
    return (count: number, pause = 200) => {
      for (let n = 0; n < count; n++) {
        api.time += 1 + Math.floor(pause * random());
        pick(random, actions)();
      }
    };
  }

  test("has a copy that equals its source after each of two nights", async () => {
    const random = seeded(2026);
    /** What happens while the copy is reconciled. */
    let meanwhile = () => {};
    const { api, client, stats } = createHostileApi((): FaultName | undefined => {
      meanwhile();
      return random() < 0.05 ? pick(random, [...refused, ...lost]) : undefined;
    });
    const { copy, leads, conversations } = createCopy();
    const mirror = createMirror(client, copy);
    let received = 0;
    let waiting: object[] = [];
    /** The receiver gets what happened: some later, some twice, in any order. */
    const receive = async (all = false) => {
      waiting = shuffled(random, [...waiting, ...api.events.slice(received)]);
      received = api.events.length;
      const now = waiting.filter(() => all || random() < 0.7);
      waiting = waiting.filter((event) => !now.includes(event) || random() < 0.1);
      await mirror.applyEvents(now.flatMap((detail) => parseEvent({ detail }) ?? []));
    };
    const loseEvents = () => {
      [received, waiting] = [api.events.length, []];
    };
    const expectEqual = () => {
      expect(leads).toEqual(api.leads);
      expect(conversations).toEqual(api.conversations);
    };
    const act = createActors(api, random);
    for (let n = 0; n < 1000; n++) api.addLead();
    for (const leadId of [...api.leads.keys()].slice(0, 150))
      api.addMessage({ leadId, channel: "whatsapp", message: "Hello" });
    await mirror.reconcile();
    expectEqual();
    loseEvents();

    // The first day: an import, and events as they come. At night, changes and events come between the pages.
    const at = api.time - 100_000_000;
    for (let n = 0; n < 150; n++) api.addLead({ name: `Imported ${n}` }, { at, imported: true });
    for (let n = 0; n < 10; n++) {
      act(20, 200_000);
      await receive();
    }
    const atNight: Promise<void>[] = [];
    meanwhile = () => {
      act(4);
      if (random() < 0.2) atNight.push(receive());
    };
    await mirror.reconcile();
    meanwhile = () => {};
    await Promise.all(atNight);
    await receive(true);
    expectEqual();

    // The second day: the receiver fails for the whole of it.
    act(100, 200_000);
    loseEvents();
    await mirror.reconcile();
    expectEqual();
    expect(stats.early).toBe(0);
  });

  test("does not overwrite an event that arrives while a page is on its way with the page", async () => {
    const { api, client, options } = createHostileApi();
    const { id } = api.addLead();
    const [pageRead, pageArrives] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow: typeof fetch = async (input, init) => {
      const response = await options.fetch(input, init);
      if (String(input).includes("/leads?sort=createdAt&")) {
        pageRead.resolve();
        await pageArrives.promise;
      }
      return response;
    };
    const { copy, leads } = createCopy();
    const mirror = createMirror(createClient({ ...options, fetch: slow }), copy);
    const reconciled = mirror.reconcile();
    await pageRead.promise;
    api.changeLead(id, { status: "booked" });
    const applied = mirror.applyEvents(
      api.events.slice(-1).flatMap((detail) => parseEvent({ detail }) ?? []),
    );
    // Time enough for the event, if it did not wait.
    for (let n = 0; n < 10; n++) await client.listLeads();
    pageArrives.resolve();
    await Promise.all([reconciled, applied]);
    expect(leads.get(id)?.status).toBe("booked");
  });
});
