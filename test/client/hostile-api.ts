import {
  type Conversation,
  createClient,
  type Lead,
  type LeadUpdate,
  type Message,
  type NewLead,
  type NewMessage,
} from "../../docs/client/client.ts";
import { type ProblemCode, problems } from "../../shared/errors.ts";
import { createdAt, idTimestamp, newId } from "../../shared/ids.ts";
import { checkResponse } from "../support/document.ts";
import { seeded } from "../support/random.ts";

/** What happens to a request. Those of `lost` happen after it took effect. */
export const refused = ["rate limited", "throttled", "busy", "failed", "bad gateway", "broken"] as const;
export const lost = ["lost", "cut", "late"] as const;
export type FaultName = (typeof refused)[number] | (typeof lost)[number];

interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A problem of the API. */
function problem(code: ProblemCode, more: object = {}, headers = {}): Reply {
  const { status, title } = problems[code];
  const body = { type: `urn:problem-type:${code}`, title, status, detail: `${title}.`, code, ...more };
  return { status, body, headers };
}

/** The API of one account in memory, by a clock that its callers move. Operators' commands are functions. */
export class FakeApi {
  /** In milliseconds since the epoch. */
  time = Date.parse("2026-11-25T02:00:00Z");
  readonly leads = new Map<string, Lead>();
  readonly conversations = new Map<string, Conversation>();
  readonly messages: Message[] = [];
  /** How long an index is behind when it is read, in milliseconds. */
  indexLag = () => 1000;
  /** The details of all events, as they happened. */
  readonly events: { readonly type: string; readonly id: string }[] = [];
  /** What conversations were, and when, for the index by their last message. An erased one is undefined. */
  readonly #versions = new Map<string, { readonly row: Conversation | undefined; readonly at: number }[]>();
  readonly #replies = new Map<string, Reply>();

  /** Responds to a request. @param key its idempotency key */
  handle({ pathname, searchParams }: URL, body: string | undefined, key: string): Reply {
    const ofLeads = pathname === "/api/v1/leads";
    if (body === undefined)
      return ofLeads ? this.#list(this.leads, searchParams) : this.#listConversations(searchParams);
    const known = this.#replies.get(pathname + key);
    if (known) return { ...known, headers: { "idempotency-replayed": "true" } };
    const reply = ofLeads
      ? this.#create(JSON.parse(body), searchParams.has("ifExists"))
      : this.#send(JSON.parse(body));
    if (reply.status < 300) this.#replies.set(pathname + key, reply);
    return reply;
  }

  #listConversations(query: URLSearchParams): Reply {
    const { id, include, ...rest } = Object.fromEntries(query);
    const byActivity = rest.sort?.endsWith("lastMessageAt") || rest.lastMessageAfter;
    const { body, ...reply } = this.#list(byActivity && !id ? this.#byActivity() : this.conversations, query);
    const { messagesBefore = "msg_~", messageLimit = 20 } = rest;
    const messages = this.messages
      .filter((message) => message.conversationId === id && message.id < messagesBefore)
      .sort((a, b) => (a.id < b.id ? 1 : -1))
      .slice(0, Number(messageLimit));
    const data = include ? body.data.map((conversation) => ({ ...conversation, messages })) : body.data;
    return { ...reply, body: { ...body, data } };
  }

  /** The conversations that the index by their last message has. */
  #byActivity(): ReadonlyMap<string, Conversation> {
    const until = this.time - this.indexLag();
    const rows = [...this.#versions.values()].flatMap(
      (versions) => versions.findLast(({ at }) => at <= until)?.row ?? [],
    );
    return new Map(rows.map((row) => [row.id, row]));
  }

  #list<Row extends Lead | Conversation>(rows: ReadonlyMap<string, Row>, query: URLSearchParams) {
    const { id, externalId, page = 1, limit = 20, sort = "-createdAt", ...rest } = Object.fromEntries(query);
    const { createdAfter = "1970", lastMessageAfter = "1970", ...others } = rest;
    const { include, messageLimit, messagesBefore, ...filters } = others;
    // Only a filtered list reads an index.
    const created = Object.keys(filters).length > 0 ? this.time - this.indexLag() : Number.POSITIVE_INFINITY;
    const activeAt = (row: Row) => ("lastMessageAt" in row ? Date.parse(row.lastMessageAt) : 0);
    const matches = (row: Row) =>
      idTimestamp(row.id) >= Date.parse(createdAfter) &&
      idTimestamp(row.id) < created &&
      activeAt(row) >= Date.parse(lastMessageAfter) &&
      (!externalId || externalId.split(",").includes(String((row as Lead).externalId))) &&
      Object.entries(filters).every(([name, value]) => row[name as keyof Row] === value);
    const listed = id ? [...new Set(id.split(","))].flatMap((id) => rows.get(id) ?? []) : [...rows.values()];
    const byActivity = sort.endsWith("lastMessageAt");
    const isBefore = (a: Row, b: Row) =>
      byActivity && activeAt(a) !== activeAt(b) ? activeAt(a) < activeAt(b) : a.id < b.id;
    const found = listed.filter(matches).sort((a, b) => (isBefore(a, b) ? -1 : 1));
    if (sort.startsWith("-")) found.reverse();
    const pagination = { page: Number(page), limit: Number(limit), total: found.length };
    const from = (pagination.page - 1) * pagination.limit;
    const link = `</api?page=1>; rel="first", </api?page=1>; rel="last"`;
    const data = found.slice(from, from + pagination.limit);
    return { status: 200, body: { data, pagination }, headers: { link } };
  }

  #create(lead: NewLead | LeadUpdate, updates: boolean): Reply {
    const { externalId } = lead;
    const existing = [...this.leads.values()].find((one) => externalId && one.externalId === externalId);
    if (existing && !updates) return problem("lead_exists", { id: existing.id });
    if (existing) return { status: 200, body: this.changeLead(existing.id, lead as Partial<Lead>) };
    if (typeof lead.name === "string")
      return { status: 201, body: this.addLead(lead as NewLead, { at: this.time }) };
    const fault = { in: "body", field: "name", code: "required", message: "is required" };
    return problem("invalid_input", { errors: [fault] });
  }

  #send(message: NewMessage): Reply {
    if (!this.leads.has(message.leadId)) return problem("lead_not_found");
    return { status: 201, body: this.addMessage(message) };
  }

  /** Stores a message, by a clock that may differ: its time is not before that of the message before it. */
  addMessage({ leadId, channel, ...content }: NewMessage, at = this.time): Message {
    const active = this.#conversationsOf(leadId).find(
      (one) => one.channel === channel && one.status === "active",
    );
    const id = newId("msg", Math.max(at, Date.parse(active?.lastMessageAt ?? "1970")));
    const time = createdAt(id);
    const conversation = {
      ...(active ?? { id: newId("conv", at), leadId, channel, status: "active" }),
      lastMessageAt: time,
      messageCount: (active?.messageCount ?? 0) + 1,
    };
    this.#put(conversation.id, conversation);
    const common = { leadId, channel, createdAt: time };
    if (!active) this.#note("conversation.started", { id: conversation.id, ...common });
    const sent = { id, conversationId: conversation.id, ...content, ...common };
    this.messages.push(sent);
    this.#note("message.sent", sent);
    return sent;
  }

  #put(id: string, row: Conversation | undefined): void {
    if (row) this.conversations.set(id, row);
    else this.conversations.delete(id);
    this.#versions.set(id, [...(this.#versions.get(id) ?? []), { row, at: this.time }]);
  }

  /** Stores a lead, by default a millisecond after what was before. @param at the time of its id */
  addLead(lead: NewLead = { name: "Ada" }, { at = ++this.time, imported = false } = {}): Lead {
    const id = newId("lead", at);
    const stored = { score: 0, status: "new" as const, tags: [], ...lead, id, createdAt: createdAt(id) };
    this.leads.set(id, stored);
    this.#note("lead.created", { id, createdAt: stored.createdAt, ...(imported && { imported }) });
    return stored;
  }

  changeLead(id: string, change: Partial<Lead>): Lead {
    const lead = { ...this.leads.get(id), ...change } as Lead;
    this.leads.set(id, lead);
    this.#note("lead.updated", { leadId: id, changed: Object.keys(change), lead });
    return lead;
  }

  closeConversation(conversationId: string): void {
    const conversation = { ...this.conversations.get(conversationId), status: "closed" } as Conversation;
    this.#put(conversationId, conversation);
    const { leadId, channel } = conversation;
    const changed = ["status"];
    this.#note("conversation.updated", { conversationId, leadId, channel, changed, conversation });
  }

  eraseLead(leadId: string): void {
    this.leads.delete(leadId);
    for (const { id } of this.#conversationsOf(leadId)) this.#put(id, undefined);
    this.#note("lead.erased", { id: newId("erasure", this.time), leadId });
  }

  #conversationsOf = (leadId: string) =>
    [...this.conversations.values()].filter((one) => one.leadId === leadId);

  #note(type: string, detail: object): void {
    const id = `change_${newId("erasure", this.time).slice("erasure_".length)}`;
    const time = new Date(this.time).toISOString();
    this.events.push({ id, createdAt: time, ...detail, type, version: 1, account: "acme" } as never);
  }
}

const ofFunctions = {
  "cache-control": "no-store",
  vary: "Accept-Encoding",
  "ratelimit-policy": '"account";q=6000;w=60',
  ratelimit: '"account";r=5991;t=42',
};

const refusals: Readonly<Record<string, Reply>> = {
  "rate limited": problem("rate_limited", {}, { "retry-after": "7" }),
  busy: problem("busy", {}, { "retry-after": "1" }),
  failed: problem("internal_error"),
};

/** How long a request takes, and how long a caller waits for a late response, in milliseconds. */
const [latency, lateness] = [20, 15_000];

/** A body that ends before its end. */
const cutBody = (text: string) =>
  new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode(text.slice(0, 10))),
    pull: (controller) => controller.error(new TypeError("terminated")),
  });

/**
 * An API that does to each request what `fault` says, and a client of it. Time is virtual.
 *
 * @param fault what happens to the request with a number from 1; undefined for nothing
 */
export function createHostileApi(fault: (request: number) => FaultName | undefined = () => undefined) {
  const api = new FakeApi();
  const stats = { requests: 0, faults: 0, early: 0 };
  let quietUntil = 0;
  const fetch: typeof globalThis.fetch = async (input, { body, headers: sent } = {}) => {
    const requestId = `request-${++stats.requests}`;
    const name = fault(stats.requests);
    api.time += name === "late" ? lateness : latency;
    if (api.time < quietUntil) stats.early++;
    if (name === "rate limited") quietUntil = api.time + 7000;
    if (name) stats.faults++;
    if (name === "broken") throw new TypeError("fetch failed");
    const headers = { date: new Date(api.time).toUTCString(), "apigw-requestid": requestId };
    if (name === "throttled")
      return Response.json({ message: "Too Many Requests" }, { status: 429, headers });
    if (name === "bad gateway") return new Response("<html>", { status: 502, headers });
    const url = new URL(String(input));
    const key = String(new Headers(sent).get("idempotency-key"));
    const reply = refusals[String(name)] ?? api.handle(url, body?.toString(), key);
    const isProblem = reply.status >= 400;
    const text = JSON.stringify({ ...Object(reply.body), ...(isProblem && { requestId }) });
    const type = `application/${isProblem ? "problem+json" : "json"}`;
    const all = new Headers({ ...headers, ...ofFunctions, "content-type": type, ...reply.headers });
    // The fake must not promise what the API does not.
    const route = { method: body ? "POST" : "GET", path: url.pathname };
    checkResponse(route, { status: reply.status, headers: all, body: text });
    if (name === "lost" || name === "late") throw new TypeError("fetch failed");
    return new Response(name === "cut" ? cutBody(text) : text, { status: reply.status, headers: all });
  };
  const wait = async (milliseconds: number) => {
    api.time += Math.ceil(milliseconds);
  };
  const options = {
    ...{ url: "http://127.0.0.1", key: "key", fetch, now: () => api.time, wait, random: seeded(1) },
  };
  return { api, stats, client: createClient(options), options };
}
