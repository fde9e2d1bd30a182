import { randomUUID } from "node:crypto";
import { Bounds } from "./bounds.ts";
import type { ApiRequest, ApiResponse } from "./connections.ts";
import { type Filter, faultOfPage, faultOfRecord, faultOfReplay } from "./responses.ts";

/** A request and what makes its answer right. */
export interface Exchange {
  readonly kind: string;
  readonly request: ApiRequest;
  /** Learns from the answer. @returns what is wrong with it */
  check(response: ApiResponse): string | undefined;
}

/** A POST that was answered and can be sent again. */
interface Answered {
  readonly request: ApiRequest;
  readonly response: unknown;
}

const leadsPath = "/api/v1/leads";
const conversationsPath = "/api/v1/conversations";
const sources = ["website", "instagram", "referral", "trade-fair"];
const channels = ["instagram", "whatsapp", "email"];

/** An account under load: makes its requests, and knows from those before what the answers must be. */
export class Account {
  readonly #apiKey: string;
  readonly #random: () => number;
  readonly #leads = new Bounds();
  readonly #conversations = new Bounds();
  readonly #begunConversations = new Set<string>();
  readonly #madeConversations = new Set<string>();
  readonly #leadIds: string[] = [];
  #again: Answered | undefined;

  /** @param random gives numbers from 0 to below 1 */
  constructor(apiKey: string, random: () => number) {
    this.#apiKey = apiKey;
    this.#random = random;
  }

  listLeads(): Exchange {
    return this.#list("list leads", leadsPath, this.#leads, {});
  }

  filterLeads(): Exchange {
    return this.#list("list leads, filtered", leadsPath, this.#leads, { source: this.#pick(sources) });
  }

  listConversations(): Exchange {
    return this.#list("list conversations", conversationsPath, this.#conversations, {});
  }

  filterConversations(): Exchange {
    const filter: Filter =
      this.#random() < 0.5 ? { channel: this.#pick(channels) } : { leadId: this.#leadId() };
    return this.#list("list conversations, filtered", conversationsPath, this.#conversations, filter);
  }

  createLead(): Exchange {
    const source = this.#pick(sources);
    const body = { name: `Lead ${randomUUID()}`, email: "lead@example.com", source, tags: ["load"] };
    const kinds = kindsOf({ source });
    this.#leads.begin(kinds);
    return this.#post("create lead", leadsPath, body, (response) => {
      this.#leads.made(kinds);
      this.#leadIds.push((response.body as { id: string }).id);
    });
  }

  /** An account without a lead cannot send any: one must have been created. */
  sendMessage(): Exchange {
    const leadId = this.#leadId();
    const channel = this.#pick(channels);
    const conversation = `${leadId} ${channel}`;
    const kinds = kindsOf({ leadId, channel });
    if (!this.#begunConversations.has(conversation)) this.#conversations.begin(kinds);
    this.#begunConversations.add(conversation);
    const body = { leadId, channel, message: `Hello, this is about ${randomUUID()}.` };
    return this.#post("send message", conversationsPath, body, () => {
      if (!this.#madeConversations.has(conversation)) this.#conversations.made(kinds);
      this.#madeConversations.add(conversation);
    });
  }

  /** The last POST with an Idempotency-Key once more, if one was answered; otherwise a lead. */
  sendAgain(): Exchange {
    if (!this.#again) return this.createLead();
    const { request, response: first } = this.#again;
    return { kind: "send again", request, check: (response) => faultOfReplay(response, first) };
  }

  /** Half of the POSTs carry an Idempotency-Key. */
  #post(kind: string, path: string, body: object, learn: (response: ApiResponse) => void): Exchange {
    const key = this.#random() < 0.5 ? { idempotencyKey: randomUUID() } : {};
    const request: ApiRequest = { method: "POST", path, apiKey: this.#apiKey, body, ...key };
    const check = (response: ApiResponse) => {
      const fault = faultOfRecord(response, body);
      if (fault === undefined) {
        learn(response);
        if (request.idempotencyKey) this.#again = { request, response: response.body };
      }
      return fault;
    };
    return { kind, request, check };
  }

  /** The first page of a list or, as often, any; one in five is of 100 rows. */
  #list(kind: string, path: string, bounds: Bounds, filter: Filter): Exchange {
    const [name = ""] = kindsOf(filter).slice(-1);
    const least = bounds.least(name);
    const limit = this.#random() < 0.2 ? 100 : 20;
    const pages = this.#random() < 0.5 ? 1 : Math.ceil(least / limit);
    const page = 1 + Math.floor(this.#random() * pages);
    const query = new URLSearchParams({ ...filter, page: String(page), limit: String(limit) });
    const request: ApiRequest = { method: "GET", path: `${path}?${query}`, apiKey: this.#apiKey };
    const check = (response: ApiResponse) =>
      faultOfPage(response, { filter, page, limit }, { least, most: bounds.most(name) });
    return { kind, request, check };
  }

  /** The older a lead, the more often it is written to, so that messages join conversations too. */
  #leadId(): string {
    return this.#leadIds[Math.floor(this.#random() ** 3 * this.#leadIds.length)] ?? "";
  }

  #pick(values: readonly string[]): string {
    return values[Math.floor(this.#random() * values.length)] ?? "";
  }
}

/** Under what a row is counted: under nothing, which counts all, and each value that a filter can ask for. */
const kindsOf = (values: Filter) => [
  "",
  ...Object.entries(values).map(([name, value]) => `${name}=${value}`),
];
