import { randomUUID } from "node:crypto";
import { pick } from "../../support/random.ts";
import type { ApiRequest, ApiResponse } from "./connections.ts";
import { checkPage, checkRecord, checkReplay, type Filter } from "./responses.ts";

/** A request and the check of its response. */
export interface Exchange {
  readonly kind: string;
  readonly request: ApiRequest;
  /** Checks the response, and notes what it created. @returns the fault, if any */
  check(response: ApiResponse): string | undefined;
}

/** A POST that succeeded and can be sent again. */
interface Completed {
  readonly request: ApiRequest;
  readonly response: unknown;
}

const leadsPath = "/api/v1/leads";
const conversationsPath = "/api/v1/conversations";
const sources = ["website", "instagram", "referral", "trade-fair"];
const channels = ["instagram", "whatsapp", "email"];

/** An account under load: builds requests and predicts their responses from those before. */
export class Account {
  readonly #apiKey: string;
  readonly #random: () => number;
  readonly #leads = new Bounds();
  readonly #conversations = new Bounds();
  readonly #requestedConversations = new Set<string>();
  readonly #createdConversations = new Set<string>();
  readonly #leadIds: string[] = [];
  #repeatable: Completed | undefined;

  /** @param random gives numbers from 0 to below 1 */
  constructor(apiKey: string, random: () => number) {
    this.#apiKey = apiKey;
    this.#random = random;
  }

  listLeads(): Exchange {
    return this.#list("list leads", leadsPath, this.#leads, {});
  }

  filterLeads(): Exchange {
    return this.#list("list leads, filtered", leadsPath, this.#leads, {
      source: pick(this.#random, sources),
    });
  }

  listConversations(): Exchange {
    return this.#list("list conversations", conversationsPath, this.#conversations, {});
  }

  filterConversations(): Exchange {
    const filter: Filter =
      this.#random() < 0.5 ? { channel: pick(this.#random, channels) } : { leadId: this.#leadId() };
    return this.#list("list conversations, filtered", conversationsPath, this.#conversations, filter);
  }

  createLead(): Exchange {
    const source = pick(this.#random, sources);
    const body = { name: `Lead ${randomUUID()}`, email: "lead@example.com", source, tags: ["load"] };
    const kinds = listKinds({ source });
    this.#leads.request(kinds);
    return this.#post("create lead", leadsPath, body, (response) => {
      this.#leads.create(kinds);
      this.#leadIds.push((response.body as { id: string }).id);
    });
  }

  /** Call it only after a lead was created. */
  sendMessage(): Exchange {
    const leadId = this.#leadId();
    const channel = pick(this.#random, channels);
    const conversation = `${leadId} ${channel}`;
    const kinds = listKinds({ leadId, channel });
    if (!this.#requestedConversations.has(conversation)) this.#conversations.request(kinds);
    this.#requestedConversations.add(conversation);
    const body = { leadId, channel, message: `Hello, this is about ${randomUUID()}.` };
    return this.#post("send message", conversationsPath, body, () => {
      if (!this.#createdConversations.has(conversation)) this.#conversations.create(kinds);
      this.#createdConversations.add(conversation);
    });
  }

  /** Repeats the last POST with an Idempotency-Key, if there was one; otherwise creates a lead. */
  sendAgain(): Exchange {
    if (!this.#repeatable) return this.createLead();
    const { request, response: first } = this.#repeatable;
    return { kind: "send again", request, check: (response) => checkReplay(response, first) };
  }

  /** Half of the POSTs carry an Idempotency-Key. */
  #post(kind: string, path: string, body: object, onSuccess: (response: ApiResponse) => void): Exchange {
    const key = this.#random() < 0.5 ? { idempotencyKey: randomUUID() } : {};
    const request: ApiRequest = { method: "POST", path, apiKey: this.#apiKey, body, ...key };
    const check = (response: ApiResponse) => {
      const fault = checkRecord(response, body);
      if (fault === undefined) {
        onSuccess(response);
        if (request.idempotencyKey) this.#repeatable = { request, response: response.body };
      }
      return fault;
    };
    return { kind, request, check };
  }

  /** Half of the pages are first pages, the others random; one in five has a limit of 100. */
  #list(kind: string, path: string, bounds: Bounds, filter: Filter): Exchange {
    const [name = ""] = listKinds(filter).slice(-1);
    const least = bounds.least(name);
    const limit = this.#random() < 0.2 ? 100 : 20;
    const pages = this.#random() < 0.5 ? 1 : Math.ceil(least / limit);
    const page = 1 + Math.floor(this.#random() * pages);
    const query = new URLSearchParams({ ...filter, page: String(page), limit: String(limit) });
    const request: ApiRequest = { method: "GET", path: `${path}?${query}`, apiKey: this.#apiKey };
    const check = (response: ApiResponse) =>
      checkPage(response, { filter, page, limit }, { least, most: bounds.most(name) });
    return { kind, request, check };
  }

  /** Chooses older leads more often, so that messages join conversations too. */
  #leadId(): string {
    return this.#leadIds[Math.floor(this.#random() ** 3 * this.#leadIds.length)] ?? "";
  }
}

/** The kinds that a row is counted as: the empty one, which counts all rows, and one for each filter value. */
const listKinds = (values: Filter) => [
  "",
  ...Object.entries(values).map(([name, value]) => `${name}=${value}`),
];

/**
 * How many rows of each kind exist, as far as a client knows: at least those whose creation was confirmed, at most
 * those whose creation was requested.
 */
class Bounds {
  readonly #requested = new Map<string, number>();
  readonly #created = new Map<string, number>();

  request(kinds: readonly string[]): void {
    for (const kind of kinds) this.#requested.set(kind, this.most(kind) + 1);
  }

  create(kinds: readonly string[]): void {
    for (const kind of kinds) this.#created.set(kind, this.least(kind) + 1);
  }

  least(kind: string): number {
    return this.#created.get(kind) ?? 0;
  }

  most(kind: string): number {
    return this.#requested.get(kind) ?? 0;
  }
}
