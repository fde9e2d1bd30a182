import { setImmediate } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type Client, type Conversation, createClient, type Lead } from "../../docs/client/client.ts";
import {
  createMirror,
  deliverMessage,
  findOrCreateLead,
  greetLeads,
  readInbox,
  syncConversations,
  syncLeads,
} from "../../docs/client/recipes.ts";
import { newId } from "../../shared/ids.ts";
import { pick, seeded, shuffled } from "../support/random.ts";
import { type FaultName, lost, refused, startHostileServer } from "./hostile-server.ts";
import { createCopy } from "./memory-copy.ts";

const minute = 60_000;
const lead = { name: "Ada" };

/** A service that is down for its first minute, and then does something else to two of five requests. */
async function startHostile(skew: number) {
  const random = seeded(33);
  const server = await startHostileServer((): FaultName | undefined => {
    if (server.clock.time < outageEnd) return "busy";
    return random() < 0.4 ? pick(random, [...refused, ...lost]) : undefined;
  });
  const outageEnd = server.clock.time + minute;
  vi.useFakeTimers({ toFake: ["Date"], now: server.clock.time + skew });
  onTestFinished(() => void vi.useRealTimers());
  /** Checks that the client kept to Retry-After, and notes what it took. */
  const finish = (annotate: (message: string) => unknown) => {
    const { early, requests, faults } = server.stats;
    expect(early).toBe(0);
    expect(faults).toBeGreaterThan(requests / 4);
    const seconds = Math.round((server.clock.time - outageEnd + minute) / 1000);
    annotate(`${requests} requests, ${faults} faults, ${seconds} s of virtual time`);
  };
  return { ...server, finish };
}

describe.each([10, -10])("on a hostile server, with a client's clock that is %i minutes off,", (minutes) => {
  const skew = minutes * minute;

  test("forms create each lead once, and find it", async ({ annotate }) => {
    const { api, client, finish } = await startHostile(skew);
    const found = new Map<string, Set<string>>();
    for (let n = 0; n < 90; n++) {
      const externalId = `form-${n % 30}`;
      const id = await findOrCreateLead(client, { name: `Ada ${n}`, externalId });
      found.set(externalId, (found.get(externalId) ?? new Set()).add(id));
    }
    expect([...found.values()].map((ids) => [...ids])).toEqual([...api.leads.keys()].map((id) => [id]));
    finish(annotate);
  });

  test("a synchronization receives each lead", async ({ annotate }) => {
    const { api, client, clock, finish } = await startHostile(skew);
    const random = seeded(7);
    const received = new Map<string, Lead>();
    let rows = 0;
    const store = async (leads: readonly Lead[]) => {
      for (const lead of leads) received.set(lead.id, lead);
      rows += leads.length;
    };
    let since = new Date(clock.time - 10_000).toISOString();
    const create = () => {
      // A route stores a lead up to five seconds after the time in its id.
      api.addLead(newId("lead", clock.time - Math.floor(5000 * random())), { name: "Ada" });
      clock.time += Math.floor(2000 * random());
    };
    for (let run = 0; run < 20; run++) {
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
    clock.time += 20_000;
    await syncLeads(client, since, store);
    expect(received).toEqual(api.leads);
    annotate(`${rows - received.size} of ${rows} rows were received twice`);
    finish(annotate);
  });

  test("an inbox without events receives each conversation with its last message", async ({ annotate }) => {
    const { api, client, clock, finish } = await startHostile(skew);
    const random = seeded(11);
    api.indexLag = () => 10_000 * random();
    const leadIds = Array.from({ length: 600 }, () => api.addLead(newId("lead", clock.time), lead).id);
    // A route stores a message up to five seconds after its time, by a clock that differs by two.
    const send = (leadId: string, from = -7000, to = 2000) =>
      api.addMessage(
        { leadId, channel: "web", message: "Hello" },
        clock.time + Math.floor(from + (to - from) * random()),
      );
    const start = new Date(clock.time).toISOString();
    clock.time += 10_000;
    // Those that were copied from another table have exactly one time.
    for (const leadId of leadIds.slice(0, 350)) send(leadId, 0, 0);
    const received = new Map<string, Conversation>();
    let [since, rows] = [start, 0];
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
        }
        for (const conversation of conversations) received.set(conversation.id, conversation);
        // These move while the pages are read.
        if (rows > 350) meanwhile();
      });
    };
    for (let run = 0; run < 40; run++) {
      for (let n = 500 * random(); n > 0; n--, clock.time += Math.floor(400 * random()))
        send(pick(random, leadIds));
      await poll();
    }
    clock.time += 20_000;
    meanwhile = () => {};
    await poll();
    expect(received).toEqual(api.conversations);
    annotate(`${rows} rows for ${api.messages.length} messages`);
    finish(annotate);
  });

  test("a connector sends and delivers each message once", async ({ annotate }) => {
    const { api, client, clock, finish } = await startHostile(skew);
    for (let n = 0; n < 120; n++) {
      clock.time += 10;
      api.addLead(newId("lead", clock.time), { name: `Ada ${n}`, source: "website" });
    }
    clock.time += 2000;
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
    finish(annotate);
  });
});

test("an event that is being delivered is a failure for its sender, and is neither delivered nor released", async () => {
  const { api, client } = await startHostileServer();
  const { id: leadId } = api.addLead(newId("lead"), { name: "Ada" });
  await client.sendMessage({ leadId, channel: "whatsapp", message: "Hello" });
  const detail = api.events.find(({ type }) => type === "message.sent");
  const deliver = vi.fn(async () => {});
  for (const state of ["busy", "delivered"] as const) {
    const memory = { claim: async () => state, add: vi.fn(async () => {}), release: vi.fn(async () => {}) };
    const delivering = deliverMessage({ detail }, "whatsapp", memory, deliver);
    if (state === "busy")
      await expect(delivering).rejects.toThrow(`The message ${detail?.id} is being delivered.`);
    else await delivering;
    expect([memory.add, memory.release, deliver].flatMap(({ mock }) => mock.calls)).toEqual([]);
  }
});

test("an inbox is two requests, and has the newest message first", async () => {
  const { api, client, clock, stats } = await startHostileServer();
  for (let n = 0; n < 50; n++) {
    const { id: leadId } = api.addLead(newId("lead"), { name: `Ada ${n}` });
    await client.sendMessage({ leadId, channel: "whatsapp", message: "Hello" });
  }
  clock.time += 1000;
  const [first, ...others] = api.leads.values();
  await client.sendMessage({ leadId: String(first?.id), channel: "whatsapp", message: "Hello" });
  clock.time += 1000;
  const { requests } = stats;
  const inbox = await readInbox(client, { limit: 50 });
  expect(inbox.map(({ lead }) => lead)).toEqual([first, ...others.reverse()]);
  expect(stats.requests - requests).toBe(2);
});

test("a synchronization without a readable Date starts again where it started", async () => {
  const { api, options } = await startHostileServer();
  api.addLead(newId("lead"), { name: "Ada" });
  const fetch: typeof globalThis.fetch = async (...sent) => new Response((await options.fetch(...sent)).body);
  const since = "2026-01-01T00:00:00.000Z";
  expect(await syncLeads(createClient({ ...options, fetch }), since, async () => {})).toBe(since);
});

test("a lead that is stored behind a synchronization that takes long is received by the next one", async () => {
  const { api, client, clock } = await startHostileServer();
  for (let n = 0; n < 101; n++) api.addLead(newId("lead", clock.time), { name: "Ada" });
  const received = new Set<string>();
  const store = async (leads: readonly Lead[]) => {
    for (const { id } of leads) received.add(id);
    if (api.leads.size === 101) api.addLead(newId("lead", clock.time - 5000), { name: "Late" });
    clock.time += minute;
  };
  const since = new Date(clock.time - minute).toISOString();
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
  const { api, client, clock } = await startHostileServer((n) => (n < 2 ? undefined : "busy"));
  for (let n = 0; n < 101; n++) {
    const source = n === 0 ? "form 0" : "form";
    const { id: leadId } = api.addLead(newId("lead", clock.time), { name: "Ada", source });
    api.addMessage({ leadId, channel: "whatsapp", message: "Hello" });
    clock.time++;
  }
  clock.time += 1000;
  await expect(run(client)).rejects.toMatchObject({ status: 503, code: "busy" });
});
