import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { ulid } from "ulid";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { conversationItem } from "../../../../shared/domain/conversations.ts";
import { eventSchemas, type ServiceEvent } from "../../../../shared/domain/event-schemas.ts";
import { toEvents } from "../../../../shared/domain/events.ts";
import { leadItem } from "../../../../shared/domain/leads.ts";
import { erasedLeadKey, messageKey } from "../../../../shared/dynamodb/keys.ts";
import { tableName } from "../../../../shared/dynamodb/table-client.ts";
import { createdAt } from "../../../../shared/ids.ts";
import { listening } from "../../../support/listening.ts";
import { streamRecord } from "../../../support/stream-record.ts";
import { put, tableItems } from "../../../support/table-items.ts";
import { program } from "../support/program.ts";

/** The waits of the command, in milliseconds. */
const waits = vi.hoisted((): number[] => []);
vi.mock("node:timers/promises", async (original) => ({
  ...(await original<object>()),
  setTimeout: async (milliseconds: number) => void waits.push(milliseconds),
}));

const hour = 3_600_000;
const since = Date.UTC(2026, 5, 1);
const until = since + hour;
const period = ["--since", "2026-06-01T00:00:00Z", "--until", String(until)];

/** Stores a lead that was created at a time. @returns its id */
async function storeLead(account: string, at: number, others: object = {}): Promise<string> {
  const id = `lead_${ulid(at)}`;
  const lead = { id, name: "Ada", score: 0, status: "new", tags: [], createdAt: createdAt(id) } as const;
  await put({ ...leadItem(account, { ...lead, tags: [] }), ...others });
  return id;
}

/** Stores what is left of a lead that was erased at a time. @returns the id of the erasure */
async function storeErasedLead(
  account: string,
  at: number,
  createdAt: number,
  others: object = {},
): Promise<string> {
  const [id, leadId] = [`erasure_${ulid(at)}`, `lead_${ulid(createdAt)}`];
  await put({ ...erasedLeadKey(account, leadId), id, leadId, ...others });
  return id;
}

/** Stores a conversation whose messages were sent at these times. @returns the ids, the conversation's first */
async function storeConversation(
  account: string,
  times: readonly number[],
  others: object = {},
): Promise<string[]> {
  const conversation = {
    ...{ id: `conv_${ulid(times[0])}`, leadId: `lead_${ulid(times[0])}`, channel: "whatsapp" },
    ...{ status: "active", messageCount: times.length },
    lastMessageAt: new Date(Math.max(...times)).toISOString(),
  };
  await put({ ...conversationItem(account, conversation), ...others });
  const ids = [conversation.id];
  for (const time of times) {
    const id = `msg_${ulid(time)}`;
    ids.push(id);
    const { leadId, channel } = conversation;
    const message = { id, conversationId: conversation.id, leadId, channel, message: "Hello" };
    await put({ ...messageKey(account, conversation.id, id), ...message, createdAt: createdAt(id) });
  }
  return ids;
}

/** The ids of the events of each call of the bus. */
let calls: string[][];
/** The events of all calls. */
let details: ServiceEvent[];
let bus: string;
/** Whether the bus takes the events of a call. */
let isTaken: () => boolean;

beforeEach(async () => {
  waits.length = 0;
  calls = [];
  details = [];
  isTaken = () => true;
  const server = createServer(async (request, response) => {
    const { Entries = [] } = (await json(request)) as { Entries?: { Detail: string }[] };
    const events: ServiceEvent[] = Entries.map(({ Detail }) => JSON.parse(Detail));
    details.push(...events);
    if (events.length > 0) calls.push(events.map(({ id }) => id));
    const result = isTaken() ? { EventId: "1" } : { ErrorCode: "AccessDeniedException" };
    response.end(JSON.stringify({ Entries: Entries.map(() => result) }));
  });
  onTestFinished(() => void server.close());
  bus = await listening(server);
});

async function republish(...args: string[]) {
  const env = { AWS_ENDPOINT_URL_EVENTBRIDGE: bus };
  const on = ["--table", tableName, "--bus", "events-test"];
  return program(["events", "republish", ...period, ...on, ...args], { env });
}

/** The ids of the events of an account, or of all, in the order in which they are sent. */
async function sent(account: string, ...args: string[]) {
  calls = [];
  const of = account === "" ? ["--all"] : ["--account", account];
  expect(await republish(...of, ...args)).toMatchObject({ code: 0, stderr: "" });
  return calls.flat();
}

test("the items from a time to before another have events, also the messages of older conversations", async () => {
  const account = randomUUID();
  await storeLead(account, since - 1);
  const leads = [await storeLead(account, since), await storeLead(account, until - 1)];
  await storeLead(account, until);
  const [, , ...recent] = await storeConversation(account, [since - 2 * hour, since, until - 1, until]);
  const [, , last = ""] = await storeConversation(account, [since - hour, since]);
  const [started = "", first = ""] = await storeConversation(account, [since, until - 1]);
  await storeConversation(account, [since - hour + 1, since - 1]);
  await storeConversation(account, [until, until]);
  const messages = [...recent.slice(0, 2), last, first];
  // The last one was sent after the first message of the period.
  const all = [...leads, started, ...messages];
  expect((await sent(account)).filter((id) => all.includes(id))).toEqual(all);
  expect(await sent(account, "--types", "lead.created")).toEqual(leads);
  expect(await sent(account, "--types", "conversation.started")).toEqual([started]);
});

test("an imported lead has an event by the time of its import, and other accounts have none", async () => {
  const account = randomUUID();
  const id = await storeLead(account, since);
  await storeLead(account, since, { imported: "run" });
  await storeLead(account, since + 1, { imported: ulid(since - 1) });
  const imported = await storeLead(account, since - 24 * hour, { imported: ulid(until - 1) });
  await storeLead(`${account}-2`, since);
  await storeConversation(`${account}-2`, [since]);
  expect(await sent(account)).toEqual([id, imported]);
});

test("the last change of a row has the event that the stream had, by the time of the change", async () => {
  const account = randomUUID();
  const changes = [since - 1, since, until - 1, until].map((at) => `change_${ulid(at)}`);
  for (const [n, changeId] of changes.entries())
    await storeLead(account, since - hour + n, { changeId, changed: ["score"] });
  const changeId = `change_${ulid(since)}`;
  await storeConversation(account, [since - hour], { changeId, changed: ["status"] });
  expect(await sent(account, "--types", "lead.updated")).toEqual(changes.slice(1, 3));
  expect(await sent(account, "--types", "conversation.updated")).toEqual([changeId]);
  expect(await sent(account)).toEqual([...changes.slice(1, 3), changeId]);
});

test("an event of each type is the one that the stream had, marked as repeated", async () => {
  const account = randomUUID();
  const change = () => ({ changeId: `change_${ulid(since)}`, changed: ["status"] });
  await storeLead(account, since, { email: "ada@example.com", source: "web", ...change() });
  await storeConversation(account, [since], change());
  await storeErasedLead(account, since, since);
  const items = [...(await tableItems()).values()].filter(({ pk }) => String(pk).includes(account));
  const streamed = toEvents([
    ...items.map((item) => streamRecord(undefined, item, since)),
    ...items.map((item) => ({ ...streamRecord({}, item), eventName: "MODIFY" as const })),
  ]);
  expect(streamed.map(({ type }) => type).sort()).toEqual(Object.keys(eventSchemas).sort());
  await sent(account);
  const byType = (a: ServiceEvent, b: ServiceEvent) => a.type.localeCompare(b.type);
  expect(details.sort(byType)).toEqual(streamed.sort(byType).map((event) => ({ ...event, repeated: true })));
});

test("leads that were erased from a time to before another have events, by the time of their erasure", async () => {
  const account = randomUUID();
  const erased: string[] = [];
  for (const at of [since - 1, since, until - 1, until])
    erased.push(await storeErasedLead(account, at, since - 24 * hour + erased.length));
  await storeErasedLead(account, since, since, { imported: "run" });
  expect(await sent(account, "--types", "lead.erased")).toEqual(erased.slice(1, 3));
  expect(await sent(account)).toEqual(erased.slice(1, 3));
  expect(await sent(account, "--types", "lead.created")).toEqual([]);
});

test("events are sent ten at a time, no faster than the rate, once, of one account or of all", async () => {
  const [account, other] = [randomUUID(), randomUUID()];
  const ids: string[] = [];
  for (let i = 0; i < 35; i++) ids.push(await storeLead(account, since + i));
  const others = [await storeLead(other, since), await storeErasedLead(other, since, since)];
  const { code, stdout, stderr } = await republish("--account", account, "--rate", "1", "--json");
  expect({ code, stderr, output: JSON.parse(stdout) }).toEqual({
    ...{ code: 0, stderr: "" },
    output: {
      ...{ republished: true, since: "2026-06-01T00:00:00.000Z", until: "2026-06-01T01:00:00.000Z" },
      events: { "lead.created": 35 },
    },
  });
  expect(calls).toEqual([ids.slice(0, 10), ids.slice(10, 20), ids.slice(20, 30), ids.slice(30)]);
  // Pauses of ten seconds.
  expect(waits.filter((time) => time > 5000)).toHaveLength(3);
  expect(await sent("")).toEqual(expect.arrayContaining([...ids, ...others]));
  expect(new Set(calls.flat()).size).toBe(calls.flat().length);

  calls = [];
  const planned = await republish("--account", account, "--dry-run");
  expect(planned.stdout).toBe(
    "35 events from 2026-06-01T00:00:00.000Z to before 2026-06-01T01:00:00.000Z would be sent again (35 lead.created).\n",
  );
  expect(calls).toEqual([]);

  isTaken = () => calls.length === 1;
  expect(await republish("--account", account)).toEqual({
    ...{ code: 1, stdout: "" },
    stderr:
      "10 events were sent. The event bus events-test did not take 10 events (AccessDeniedException). If you run it again, it starts at --since.\n",
  });
});
