import type { Conversation, Lead, Message, NewLead, NewMessage } from "../../docs/client/client.ts";
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

/** How long the index of the filters is behind, in milliseconds. */
const indexLag = 1000;

/** The API of one account in memory, by the clock of the service. Operators' commands are functions. */
export class FakeApi {
  readonly leads = new Map<string, Lead>();
  readonly conversations = new Map<string, Conversation>();
  readonly messages: Message[] = [];
  /** The details of all events, as they happened. */
  readonly events: { readonly type: string; readonly id: string }[] = [];
  readonly #clock: VirtualClock;
  readonly #replies = new Map<string, { readonly body: string; readonly reply: Reply }>();

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  handle({ method, path, query, body, key }: Sending, requestId: string): Reply {
    const ofLeads = path === "/api/v1/leads";
    if (method === "GET")
      return this.#list<Lead | Conversation>(ofLeads ? this.leads : this.conversations, query);
    const known = this.#replies.get(path + key);
    if (known && known.body !== body) return problem("idempotency_key_reused", requestId);
    if (known) return { ...known.reply, headers: { "idempotency-replayed": "true" } };
    const reply = ofLeads
      ? this.#create(JSON.parse(body), requestId)
      : this.#send(JSON.parse(body), requestId);
    if (reply.status === 201) this.#replies.set(path + key, { body, reply });
    return reply;
  }

  #list<Row extends Lead | Conversation>(rows: ReadonlyMap<string, Row>, query: URLSearchParams): Reply {
    const { id, createdAfter, createdBefore, page = 1, limit = 20, ...filters } = Object.fromEntries(query);
    const [after, before] = [Date.parse(createdAfter ?? "1970"), Date.parse(createdBefore ?? "2100")];
    const indexed = Object.keys(filters).length > 0 ? this.#clock.time - indexLag : Number.POSITIVE_INFINITY;
    const matches = (row: Row) =>
      timeOf(row.id) >= after &&
      timeOf(row.id) < Math.min(before, indexed) &&
      Object.entries(filters).every(
        ([name, value]) => String(row[name as keyof Row]).toLowerCase() === value.toLowerCase(),
      );
    const listed = id ? [...new Set(id.split(","))].flatMap((id) => rows.get(id) ?? []) : [...rows.values()];
    const found = listed.filter(matches).sort((a, b) => (a.id < b.id ? 1 : -1));
    const pagination = { page: Number(page), limit: Number(limit), total: found.length };
    const from = (pagination.page - 1) * pagination.limit;
    const link = `</api?page=1>; rel="first", </api?page=1>; rel="last"`;
    return {
      status: 200,
      body: { data: found.slice(from, from + pagination.limit), pagination },
      headers: { link },
    };
  }

  #create(lead: NewLead, requestId: string): Reply {
    if (typeof lead.name === "string")
      return { status: 201, body: this.addLead(newId("lead", this.#clock.time), lead) };
    const fault = { in: "body", field: "name", code: "required", message: "is required" };
    return problem("invalid_input", requestId, { errors: [fault] });
  }

  #send({ leadId, channel, message }: NewMessage, requestId: string): Reply {
    if (!this.leads.has(leadId)) return problem("lead_not_found", requestId);
    const id = newId("msg", this.#clock.time);
    const time = createdAt(id);
    const active = this.#conversationsOf(leadId).find(
      (one) => one.channel === channel && one.status === "active",
    );
    const conversation = {
      ...(active ?? { id: newId("conv", this.#clock.time), leadId, channel, status: "active" }),
      lastMessageAt: time,
      messageCount: (active?.messageCount ?? 0) + 1,
    };
    this.conversations.set(conversation.id, conversation);
    const common = { leadId, channel, createdAt: time };
    if (!active) this.#note("conversation.started", { id: conversation.id, ...common });
    const sent = { id, conversationId: conversation.id, message, ...common };
    this.messages.push(sent);
    this.#note("message.sent", sent);
    return { status: 201, body: sent };
  }

  /** Stores a lead, whose id has the time of its creation. */
  addLead(id: string, lead: NewLead, imported?: true): Lead {
    const stored = { score: 0, status: "new" as const, tags: [], ...lead, id, createdAt: createdAt(id) };
    this.leads.set(id, stored);
    this.#note("lead.created", { id, createdAt: stored.createdAt, ...(imported && { imported }) });
    return stored;
  }

  changeLead(id: string, change: Partial<Lead>): void {
    const lead = { ...this.leads.get(id), ...change } as Lead;
    this.leads.set(id, lead);
    this.#note("lead.updated", { leadId: id, changed: Object.keys(change), lead });
  }

  closeConversation(id: string): void {
    const conversation = { ...this.conversations.get(id), status: "closed" } as Conversation;
    this.conversations.set(id, conversation);
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
    for (const { id } of this.#conversationsOf(leadId)) this.conversations.delete(id);
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
