import type {
  Conversation,
  Lead,
  LeadUpdate,
  Message,
  NewLead,
  NewMessage,
} from "../../docs/client/client.ts";
import { type ProblemCode, problems } from "../../shared/errors.ts";
import { createdAt, idTimestamp, newId } from "../../shared/ids.ts";

/** A clock that moves when someone waits. Its time is in milliseconds since the epoch. */
export class VirtualClock {
  time = Date.parse("2026-11-25T02:00:00Z");
  readonly now = () => this.time;
  readonly wait = async (milliseconds: number) => {
    this.time += Math.ceil(milliseconds);
  };
}

export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Sending {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
  readonly key: string;
}

/** A problem of the API. */
export function problem(code: ProblemCode, requestId: string, more: object = {}, headers = {}): Reply {
  const { status, title } = problems[code];
  const type = `urn:problem-type:${code}`;
  return { status, body: { type, title, status, detail: `${title}.`, code, requestId, ...more }, headers };
}

const times = new Map<string, number>();

/** The time in an id, which is decoded once. */
function timeOf(id: string): number {
  const time = times.get(id) ?? idTimestamp(id);
  times.set(id, time);
  return time;
}

/** The API of one account in memory, by the clock of the service. Operators' commands are functions. */
export class FakeApi {
  readonly leads = new Map<string, Lead>();
  readonly conversations = new Map<string, Conversation>();
  readonly messages: Message[] = [];
  /** How long an index is behind when it is read, in milliseconds. */
  indexLag = () => 1000;
  /** What conversations were, and when, for the index by their last message. An erased one is undefined. */
  readonly #versions = new Map<string, { readonly row: Conversation | undefined; readonly at: number }[]>();
  /** The details of all events, as they happened. */
  readonly events: { readonly type: string; readonly id: string }[] = [];
  readonly #clock: VirtualClock;
  readonly #replies = new Map<string, { readonly sent: string; readonly reply: Reply }>();

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  handle({ method, path, query, body, key }: Sending, requestId: string): Reply {
    const ofLeads = path === "/api/v1/leads";
    if (method === "GET") return ofLeads ? this.#list(this.leads, query) : this.#listConversations(query);
    const [known, sent] = [this.#replies.get(path + key), `${query} ${body}`];
    if (known && known.sent !== sent) return problem("idempotency_key_reused", requestId);
    if (known) return { ...known.reply, headers: { "idempotency-replayed": "true" } };
    const reply = ofLeads
      ? this.#create(JSON.parse(body), query.has("ifExists"), requestId)
      : this.#send(JSON.parse(body), requestId);
    if (reply.status < 300) this.#replies.set(path + key, { sent, reply });
    return reply;
  }

  #listConversations(query: URLSearchParams): Reply {
    const { id, include, ...rest } = Object.fromEntries(query);
    const byActivity =
      rest.sort?.endsWith("lastMessageAt") || rest.lastMessageAfter || rest.lastMessageBefore;
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
    const until = this.#clock.time - this.indexLag();
    const rows = [...this.#versions.values()].flatMap(
      (versions) => versions.findLast(({ at }) => at <= until)?.row ?? [],
    );
    return new Map(rows.map((row) => [row.id, row]));
  }

  #list<Row extends Lead | Conversation>(rows: ReadonlyMap<string, Row>, query: URLSearchParams) {
    const { id, externalId, page = 1, limit = 20, sort = "-createdAt", ...rest } = Object.fromEntries(query);
    const { createdAfter, createdBefore, lastMessageAfter, lastMessageBefore, ...others } = rest;
    const { include, messageLimit, messagesBefore, ...filters } = others;
    const isWithin = (time: number, after = "1970", before = "2100") =>
      time >= Date.parse(after) && time < Date.parse(before);
    const isIndexed = Object.keys(filters).length > 0;
    const created = isIndexed ? this.#clock.time - this.indexLag() : Number.POSITIVE_INFINITY;
    const activeAt = (row: Row) => ("lastMessageAt" in row ? Date.parse(row.lastMessageAt) : 0);
    const matches = (row: Row) =>
      isWithin(timeOf(row.id), createdAfter, createdBefore) &&
      timeOf(row.id) < created &&
      isWithin(activeAt(row), lastMessageAfter, lastMessageBefore) &&
      (!externalId || externalId.split(",").includes(String((row as Lead).externalId))) &&
      Object.entries(filters).every(
        ([name, value]) => String(row[name as keyof Row]).toLowerCase() === value.toLowerCase(),
      );
    const listed = id ? [...new Set(id.split(","))].flatMap((id) => rows.get(id) ?? []) : [...rows.values()];
    const byActivity = sort.endsWith("lastMessageAt");
    const isBefore = (a: Row, b: Row) =>
      byActivity && activeAt(a) !== activeAt(b) ? activeAt(a) < activeAt(b) : a.id < b.id;
    const found = listed.filter(matches).sort((a, b) => (isBefore(a, b) ? -1 : 1));
    if (sort.startsWith("-")) found.reverse();
    const pagination = { page: Number(page), limit: Number(limit), total: found.length };
    const from = (pagination.page - 1) * pagination.limit;
    const link = `</api?page=1>; rel="first", </api?page=1>; rel="last"`;
    return {
      status: 200,
      body: { data: found.slice(from, from + pagination.limit), pagination },
      headers: { link },
    };
  }

  #create(lead: NewLead | LeadUpdate, updates: boolean, requestId: string): Reply {
    const { externalId } = lead;
    const existing = [...this.leads.values()].find((one) => externalId && one.externalId === externalId);
    if (existing && !updates) return problem("lead_exists", requestId, { id: existing.id });
    if (existing) return { status: 200, body: this.changeLead(existing.id, lead as Partial<Lead>) };
    if (typeof lead.name === "string")
      return { status: 201, body: this.addLead(newId("lead", this.#clock.time), lead as NewLead) };
    const fault = { in: "body", field: "name", code: "required", message: "is required" };
    return problem("invalid_input", requestId, { errors: [fault] });
  }

  #send(message: NewMessage, requestId: string): Reply {
    if (!this.leads.has(message.leadId)) return problem("lead_not_found", requestId);
    return { status: 201, body: this.addMessage(message) };
  }

  /** Stores a message, by a clock that may differ: its time is not before that of the message before it. */
  addMessage({ leadId, channel, ...content }: NewMessage, at = this.#clock.time): Message {
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
    this.#versions.set(id, [...(this.#versions.get(id) ?? []), { row, at: this.#clock.time }]);
  }

  /** Stores a lead, whose id has the time of its creation. */
  addLead(id: string, lead: NewLead, imported?: true): Lead {
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

  closeConversation(id: string): void {
    const conversation = { ...this.conversations.get(id), status: "closed" } as Conversation;
    this.#put(id, conversation);
    const { leadId, channel } = conversation;
    this.#note("conversation.updated", {
      conversationId: id,
      leadId,
      channel,
      changed: ["status"],
      conversation,
    });
  }

  eraseLead(leadId: string): void {
    this.leads.delete(leadId);
    for (const { id } of this.#conversationsOf(leadId)) this.#put(id, undefined);
    this.#note("lead.erased", { id: newId("erasure", this.#clock.time), leadId });
  }

  #conversationsOf = (leadId: string) =>
    [...this.conversations.values()].filter((one) => one.leadId === leadId);

  #note(type: string, detail: object): void {
    const id = `change_${newId("erasure", this.#clock.time).slice("erasure_".length)}`;
    const time = new Date(this.#clock.time).toISOString();
    const event = { id, createdAt: time, ...detail, type, version: 1, account: "acme" };
    this.events.push(event);
  }
}
