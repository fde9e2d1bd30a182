import { setImmediate } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Client, Lead } from "../../docs/client/client.ts";
import {
  createMirror,
  deliverMessage,
  findOrCreateLead,
  greetLeads,
  readInbox,
  syncLeads,
} from "../../docs/client/recipes.ts";
import { newId } from "../../shared/ids.ts";
import { pick, seeded, shuffled } from "../support/random.ts";
import { type FaultName, lost, refused, startHostileServer } from "./hostile-server.ts";
import { createCopy } from "./memory-copy.ts";

const minute = 60_000;

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

  test("forms create each lead once", async ({ annotate }) => {
    const { api, client, clock, finish } = await startHostile(skew);
    const found = new Map<string, Set<string>>();
    for (let n = 0; n < 90; n++) {
      const email = `Form-${n % 30}@example.com`;
      // The second third has other fields, while the filter does not yet show the first one.
      const name = n < 60 ? `Ada ${n}` : "Ada";
      const forms = [name, ...(n % 3 === 0 ? [`${name} again`] : [])];
      for (const name of forms) {
        const { id } = await findOrCreateLead(client, { name, email }, clock.wait);
        found.set(email, (found.get(email) ?? new Set()).add(id));
      }
    }
    expect(api.leads.size).toBe(30);
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
    const create = async () => {
      // A route stores a lead up to five seconds after the time in its id.
      api.addLead(newId("lead", clock.time - Math.floor(5000 * random())), { name: "Ada" });
      clock.time += Math.floor(2000 * random());
    };
    for (let run = 0; run < 20; run++) {
      for (let n = 250 * random(); n > 0; n--) await create();
      since = await syncLeads(client, since, async (leads) => {
        await create();
        await store(leads);
      });
    }
    clock.time += 20_000;
    await syncLeads(client, since, store);
    expect(received).toEqual(api.leads);
    annotate(`${rows - received.size} of ${rows} rows were received twice`);
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

test("spellings of an address have one idempotency key, which does not show it", async () => {
  const keys: (string | undefined)[] = [];
  const client = {
    listLeads: async () => ({ data: [] }),
    createLead: async (lead: Lead, { idempotencyKey }: { idempotencyKey?: string }) => {
      keys.push(idempotencyKey);
      return lead;
    },
  } as unknown as Client;
  for (const email of ["Ada@Example.com", "ada@example.com", "grace@example.com"])
    await findOrCreateLead(client, { name: "Ada", email });
  expect(keys[0]).toMatch(/^lead-[0-9a-f]{64}$/);
  expect(keys[1]).toBe(keys[0]);
  expect(keys[2]).not.toBe(keys[0]);
});

test("an inbox is two requests", async () => {
  const { api, client, stats } = await startHostileServer();
  for (let n = 0; n < 50; n++) {
    const { id: leadId } = api.addLead(newId("lead"), { name: `Ada ${n}` });
    await client.sendMessage({ leadId, channel: "whatsapp", message: "Hello" });
  }
  const { requests } = stats;
  const inbox = await readInbox(client, { limit: 50 });
  expect(inbox.map(({ lead }) => lead)).toEqual(inbox.map(({ leadId }) => api.leads.get(leadId)));
  expect(inbox).toHaveLength(50);
  expect(stats.requests - requests).toBe(2);
});

test("a form gives up when the lead of another form is not found, with the error of the API", async () => {
  const { api, client, clock } = await startHostileServer();
  const lead = { name: "Ada", email: "ada@example.com" };
  const { id } = await findOrCreateLead(client, lead);
  api.leads.delete(id);
  await expect(findOrCreateLead(client, { ...lead, name: "Eve" }, clock.wait)).rejects.toMatchObject({
    status: 422,
    code: "idempotency_key_reused",
  });
});

test("a synchronization without a readable Date starts again where it started", async () => {
  const { api, client } = await startHostileServer();
  api.addLead(newId("lead"), { name: "Ada" });
  const pages = client.leadPages;
  const dateless: Client = {
    ...client,
    async *leadPages(...query) {
      for await (const page of pages(...query)) yield { ...page, readAfter: Number.NaN };
    },
  };
  const since = "2026-01-01T00:00:00.000Z";
  expect(await syncLeads(dateless, since, async () => {})).toBe(since);
});

test.each<[string, (client: Client) => Promise<unknown>]>([
  ["syncLeads", (client) => syncLeads(client, "2026-11-25T00:00:00Z", async () => {})],
  ["greetLeads", (client) => greetLeads(client, "form 0")],
  ["readInbox", (client) => readInbox(client, {})],
  ["reconcile", (client) => createMirror(client, createCopy().copy).reconcile()],
])("%s fails with the error of the API when its second request is refused for good", async (_, run) => {
  const { api, client, clock } = await startHostileServer((n) => (n < 3 ? undefined : "busy"));
  for (let n = 0; n < 101; n++) api.addLead(newId("lead", clock.time), { name: "Ada", source: `form ${n}` });
  const [leadId = ""] = api.leads.keys();
  clock.time += 1000;
  await client.sendMessage({ leadId, channel: "whatsapp", message: "Hello" });
  await expect(run(client)).rejects.toMatchObject({ status: 503, code: "busy" });
});
