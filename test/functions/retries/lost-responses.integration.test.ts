import { beforeEach, expect, test, vi } from "vitest";
import { type ItemType, readPartition } from "../../../shared/dynamodb/keys.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { fieldsOf } from "../../../shared/schemas/record.ts";
import { part } from "../../support/cases/part.ts";
import { pick, seeded } from "../../support/cases/random.ts";
import { stopClock } from "../../support/cases/virtual-time.ts";
import { call } from "../../support/requests/call.ts";
import { aLead, repeated } from "../../support/requests/requests.ts";
import {
  type Attempt,
  failAtRandom,
  interceptAttempts,
  lateAttempts,
  tableFaults,
  timedOut,
} from "../../support/tables/table-faults.ts";
import { tableItems } from "../../support/tables/table-items.ts";

beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => {}));

/** The stored items of an account. */
async function stored(account: string) {
  const items = [...(await tableItems()).values()].filter(
    ({ pk }) => readPartition(String(pk))?.account === account,
  );
  const of = (type: ItemType): readonly Item[] =>
    items.filter(({ pk }) => readPartition(String(pk))?.type === type);
  return { leads: of("lead"), messages: of("message"), conversations: of("conversation") };
}

const externalId = "crm-1";

const withKey = (key: string) => ({ headers: { "idempotency-key": key } });

/** Runs six clients of an account. @returns what they sent with the id of what was stored, and the entries of a lead that all change */
async function runClients(account: string, random: () => number) {
  const writes: { readonly marker: string; id?: string }[] = [];
  const leads: string[] = [];
  const updated: Record<string, string> = Object.create(null);

  /** A client repeats a write only if it has a key. */
  async function write(name: "create-lead" | "send-message", marker: string, body: object) {
    const hasKey = random() < 0.7;
    const request = { account, body, ...(hasKey && withKey(marker)) };
    const sent: (typeof writes)[number] = { marker };
    writes.push(sent);
    const response = await repeated(() => call(name, request), hasKey ? 20 : 1);
    if (response.status !== 201) return;
    sent.id = response.body.id;
    if (name === "create-lead") leads.push(response.body.id);
  }

  /** Changes the lead that all clients change. Each client has its own entry of the metadata. */
  async function update(client: number, n: number): Promise<void> {
    // Every object inherits something with the first two names.
    const entry = ["constructor", "toString", "a/b", "~", "ü", "x"][client] ?? "";
    const key = random() < 0.5 ? withKey(`update-${client}-${n}`) : {};
    const body = { externalId, name: "shared", metadata: { [entry]: `${n}` } };
    const request = { account, query: "ifExists=update", body, ...key };
    const { body: lead } = await repeated(() => call("create-lead", request), 60);
    expect(lead.metadata?.[entry], JSON.stringify(lead)).toBe(`${n}`);
    updated[entry] = `${n}`;
  }

  /** Expects the total to have every acknowledged lead, and at most those requested and the one that all change. */
  async function list(): Promise<void> {
    const least = leads.length;
    const { status, body } = await call("list-leads", { account, query: "limit=1" });
    if (status !== 200) return expect([429, 503]).toContain(status);
    expect(body.pagination.total).toBeGreaterThanOrEqual(least);
    expect(body.pagination.total).toBeLessThanOrEqual(writes.length + 1);
  }

  async function run(client: number): Promise<void> {
    for (let n = 0; n < 20; n++) {
      const marker = `${client}-${n}`;
      const leadId = leads[Math.floor(random() ** 3 * leads.length)];
      const channel = pick(random, ["sms", "web"]);
      if (leadId === undefined || random() < 0.3) await write("create-lead", marker, { name: marker });
      else await write("send-message", marker, { leadId, channel, message: marker });
      if (n % 3 === 0) await list();
    }
    for (let n = 0; n < 8; n++) await update(client, n);
  }
  await Promise.all(Array.from({ length: 6 }, (_, client) => run(client)));
  return { writes, updated };
}

// Both attempts take effect before the client retries, or after it.
test.each([
  "before",
  "after",
])("a write is made once if both of its attempts take effect %s the client's retry", async (landing) => {
  stopClock();
  const account = `late-twice-${landing}`;
  const { id: leadId } = await aLead(account);
  for (const [name, body] of [
    ["create-lead", { name: "Late" }],
    ["send-message", { leadId, channel: "whatsapp", message: "Late" }],
  ] as const) {
    const late: Attempt[] = [];
    const land = () => Promise.all(late.map(({ forward }) => forward()));
    interceptAttempts(async (attempt) => {
      if (!attempt.isWrite || late.length === 2) return attempt.forward();
      late.push(attempt);
      throw timedOut();
    });
    const request = { account, body, ...withKey("late") };
    const first = await call(name, request);
    expect([first.status, first.problem.code]).toEqual([503, "busy"]);
    if (landing === "before") await land();
    expect((await call(name, request)).status).toBe(201);
    if (landing === "after") await land();
  }
  const { leads, messages, conversations } = await stored(account);
  expect(leads.filter((lead) => fieldsOf(lead).name === "Late")).toHaveLength(1);
  expect(messages).toHaveLength(1);
  expect(conversations).toMatchObject([{ messageCount: 1 }]);
});

test("a message without an Idempotency-Key is stored once, if only its response is lost", async () => {
  const { id: leadId } = await aLead("lost");
  let isLost = false;
  interceptAttempts((attempt) => {
    if (!attempt.isWrite || isLost) return attempt.forward();
    isLost = true;
    return tableFaults["lost after"]?.(attempt) ?? attempt.forward();
  });
  const body = { leadId, channel: "whatsapp", message: "Hello" };
  const { status, body: sent } = await call("send-message", { account: "lost", body });
  expect(status).toBe(201);
  const { messages } = await stored("lost");
  expect(messages).toMatchObject([{ id: sent.id }]);
});

test.each(
  part([1, 2, 3], 3),
)("acknowledged writes exist exactly once, and no acknowledged update is lost, whatever fails at random (seed %i)", async (seed) => {
  const account = `random-${seed}`;
  const random = seeded(seed);
  const injected = failAtRandom(random);
  const clients = await runClients(account, random);
  await lateAttempts();
  vi.restoreAllMocks();
  const { leads, messages, conversations } = await stored(account);
  const records = [
    ...leads.map((lead) => ({ id: lead.id, marker: fieldsOf(lead).name })),
    ...messages.map(({ id, message }) => ({ id, marker: message })),
  ];
  const copies = Map.groupBy(records, ({ marker }) => marker);
  for (const { marker, id } of clients.writes) {
    const ids = copies.get(marker)?.map((copy) => copy.id) ?? [];
    expect([marker, ids]).toEqual([marker, id === undefined ? ids.slice(0, 1) : [id]]);
  }
  const shared = leads.map(fieldsOf).filter((lead) => lead.externalId !== undefined);
  expect(shared.map(({ metadata }) => metadata)).toEqual([{ ...clients.updated }]);
  // A lead has at most one active conversation on a channel, and each counts its messages.
  const pairs = conversations.map(({ leadId, channel }) => `${leadId} ${channel}`);
  expect(new Set(pairs).size).toBe(pairs.length);
  for (const { id, messageCount } of conversations)
    expect([id, messageCount]).toEqual([
      id,
      messages.filter(({ conversationId }) => conversationId === id).length,
    ]);
  // Otherwise nothing was tested.
  expect([...injected].sort()).toEqual(Object.keys(tableFaults).sort());
  expect(clients.writes.filter(({ id }) => id).length).toBeGreaterThan(clients.writes.length / 2);
});
