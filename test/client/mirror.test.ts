import { expect, onTestFinished, test, vi } from "vitest";
import { createClient, parseEvent } from "../../docs/client/client.ts";
import { createMirror } from "../../docs/client/recipes.ts";
import { newId } from "../../shared/ids.ts";
import { pick, seeded, shuffled } from "../support/random.ts";
import type { FakeApi, VirtualClock } from "./fake-api.ts";
import { type FaultName, lost, refused, startHostileServer } from "./hostile-server.ts";
import { createCopy } from "./memory-copy.ts";

/** Clients and operators of an account, who do one thing after the other. */
function createActors(api: FakeApi, clock: VirtualClock, random: () => number) {
  const anyOf = (rows: ReadonlyMap<string, unknown>) => pick(random, [...rows.keys()]);
  const createLead = () => api.addLead(newId("lead", clock.time), { name: "Ada" });
  const send = (leadId: string) => {
    const body = JSON.stringify({
      leadId,
      channel: pick(random, ["whatsapp", "instagram"]),
      message: "Hello",
    });
    const [path, key] = ["/api/v1/conversations", newId("msg", clock.time)];
    api.handle({ method: "POST", path, query: new URLSearchParams(), body, key }, "request");
  };
  const actions = [
    createLead,
    () => api.addLead(newId("lead", clock.time - Math.floor(5e8 * random())), { name: "Imported" }, true),
    () => api.changeLead(anyOf(api.leads), { status: pick(random, ["new", "qualified", "booked"]) }),
    () => api.changeLead(anyOf(api.leads), { score: Math.floor(100 * random()) }),
    () => api.eraseLead(anyOf(api.leads)),
    () => api.eraseLead(api.conversations.get(anyOf(api.conversations))?.leadId ?? ""),
    () => api.closeConversation(anyOf(api.conversations)),
    () => send(anyOf(api.leads)),
    () => send(api.conversations.get(anyOf(api.conversations))?.leadId ?? ""),
  ];
  const repeat = (count: number, pause: number, action: () => unknown) => {
    for (let n = 0; n < count; n++) {
      clock.time += 1 + Math.floor(pause * random());
      action();
    }
  };
  return {
    act: (count = 1, pause = 200) => repeat(count, pause, () => pick(random, actions)()),
    fill: () => {
      repeat(10_000, 50_000, createLead);
      repeat(1000, 50_000, () => send(anyOf(api.leads)));
    },
  };
}

test("a copy equals its source after each of three nights, with a clock that is 10 minutes off", async ({
  annotate,
}) => {
  const random = seeded(2026);
  /** What happens while the copy is reconciled. */
  let meanwhile = () => {};
  const server = await startHostileServer((): FaultName | undefined => {
    meanwhile();
    return random() < 0.05 ? pick(random, [...refused, ...lost]) : undefined;
  });
  const { api, client, clock, stats } = server;
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
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
  const reconcile = async (night: string, minutesOff: number) => {
    vi.setSystemTime(clock.time + minutesOff * 60_000);
    const [{ requests }, start] = [{ ...stats }, clock.time];
    await mirror.reconcile();
    const seconds = Math.round((clock.time - start) / 1000);
    annotate(`${night}: ${api.leads.size} leads, ${stats.requests - requests} requests, ${seconds} s`);
  };
  const expectEqual = () => {
    expect(leads).toEqual(api.leads);
    expect(conversations).toEqual(api.conversations);
  };

  const { act, fill } = createActors(api, clock, random);
  fill();
  await reconcile("the first copy", 0);
  expectEqual();
  loseEvents();

  // The first day: an import, and events as they come. At night, changes and events come between the pages.
  const imported = clock.time - 100_000_000;
  for (let n = 0; n < 250; n++) api.addLead(newId("lead", imported), { name: `Imported ${n}` }, true);
  for (let n = 0; n < 20; n++) {
    act(20, 200_000);
    await receive();
  }
  const atNight: Promise<void>[] = [];
  meanwhile = () => {
    act(4);
    if (random() < 0.1) atNight.push(receive());
  };
  await reconcile("night 1", 10);
  meanwhile = () => {};
  await Promise.all(atNight);
  await receive(true);
  expectEqual();

  // The second day: the receiver fails until the evening.
  act(400, 200_000);
  loseEvents();
  meanwhile = () => {
    act(4);
  };
  await reconcile("night 2", -10);
  meanwhile = () => {};
  await receive(true);
  expectEqual();

  // The third day: the receiver fails for the whole of it.
  act(400, 200_000);
  loseEvents();
  await reconcile("night 3", 10);
  expectEqual();
  expect(stats.early).toBe(0);
});

test("an event that arrives while a page is on its way is not overwritten by the page", async () => {
  const { api, client, options, clock } = await startHostileServer();
  const { id } = api.addLead(newId("lead", clock.time), { name: "Ada" });
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
  const applied = mirror.applyEvents(api.events.slice(-1).flatMap((detail) => parseEvent({ detail }) ?? []));
  // Time enough for the event, if it did not wait.
  for (let n = 0; n < 10; n++) await client.listLeads();
  pageArrives.resolve();
  await Promise.all([reconciled, applied]);
  expect(leads.get(id)?.status).toBe("booked");
});
