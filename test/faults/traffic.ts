import { setTimeout } from "node:timers/promises";
import { setLeadStatus } from "../../lib/ops/leads/lead-changes.ts";
import { type RouteName, routes } from "../../shared/routes.ts";
import type { Lead } from "../../shared/schemas/lead-schemas.ts";
import { call, type ResponseBodies } from "../support/call.ts";
import type { TestRequest } from "../support/events.ts";
import { pick, skewed } from "../support/random.ts";
import { channels, sources } from "./count-check.ts";
import type { Ledger, Write } from "./ledger.ts";

/** How a client of the API retries: how many requests it sends at most, and how long it waits for a response, in milliseconds. */
interface RetryPolicy {
  readonly tries: number;
  readonly timeout: number;
}

/** Some clients time out early; those that do not retry need no Idempotency-Key. */
const retryPolicies: readonly RetryPolicy[] = [
  { tries: 6, timeout: 10_000 },
  { tries: 6, timeout: 1200 },
  { tries: 1, timeout: 10_000 },
];

/** A client of an account. It retries requests that are rejected or time out, as the documentation recommends. */
export class Client {
  readonly #ledger: Ledger;
  readonly #number: number;
  readonly #random: () => number;
  /** Calls that may have lost their client. */
  readonly #calls: Promise<unknown>[] = [];
  #writes = 0;

  /** @param number identifies it among the clients of the account */
  constructor(ledger: Ledger, number: number, random: () => number) {
    this.#ledger = ledger;
    this.#number = number;
    this.#random = random;
  }

  /** Sends requests until they are enough, and waits for all calls to end. */
  async run(isEnough: () => boolean): Promise<void> {
    const next = skewed<() => Promise<unknown>>(this.#random, [
      [() => this.#createLead(), 22],
      [() => this.#sendMessage(), 38],
      [() => this.#list(), 36],
      [() => this.#changeLead(), 4],
    ]);
    while (!isEnough()) await next()();
    await Promise.allSettled(this.#calls);
  }

  #createLead(): Promise<void> {
    const source = this.#random() < 0.8 ? { source: pick(this.#random, sources) } : {};
    return this.#write("create-lead", (marker) => ({ name: marker, ...source }));
  }

  /** Prefers the first leads, so that messages join the same conversations. */
  async #sendMessage(): Promise<void> {
    const leads = this.#ledger.acknowledged<Lead>("create-lead");
    const lead = leads[Math.floor(this.#random() ** 3 * leads.length)];
    if (!lead) return;
    const to = { leadId: lead.id, channel: pick(this.#random, channels) };
    await this.#write("send-message", (marker) => ({ ...to, message: marker }));
  }

  async #write(name: Write["name"], toBody: (marker: string) => object): Promise<void> {
    const marker = `${this.#number}-${this.#writes++}`;
    const write: Write = { name, marker };
    this.#ledger.writes.push(write);
    const policy = pick(this.#random, retryPolicies);
    const headers = { "idempotency-key": marker };
    const request = { body: toBody(marker), ...(policy.tries > 1 && { headers }) };
    const body = await this.#request(name, request, policy);
    if (body) write.record = body;
  }

  /**
   * Lists the newest leads, whose total is exact under every fault: it has all that were acknowledged, and none besides those
   * requested. A list of a source may lack some, because its index is late.
   */
  async #list(): Promise<void> {
    const { account } = this.#ledger;
    const source = this.#random() < 0.4 ? pick(this.#random, sources) : undefined;
    const least = source === undefined ? this.#ledger.acknowledged("create-lead").length : 0;
    const query = source === undefined ? "limit=10" : `limit=10&source=${source}`;
    const body = await this.#request("list-leads", { query }, { tries: 4, timeout: 10_000 });
    if (!body) return;
    this.#ledger.lists++;
    const most = this.#ledger.writes.filter(({ name }) => name === "create-lead").length;
    const { total } = body.pagination;
    const others = body.data.filter((lead) => source !== undefined && lead.source !== source);
    if (total < least || total > most || others.length > 0 || body.data.length !== Math.min(10, total))
      this.#ledger.violations.push(
        `${account} has ${body.data.length} of ${total} leads with ${query}, not of ${least} to ${most}`,
      );
  }

  /** An operator changes the status of a lead, once. A change that fails may or may not have taken effect. */
  async #changeLead(): Promise<void> {
    const { account, changes } = this.#ledger;
    const leads = this.#ledger.acknowledged<Lead>("create-lead");
    const { id } = leads[Math.floor(this.#random() * leads.length)] ?? {};
    if (id === undefined || changes.has(id)) return;
    const change = { status: pick(this.#random, ["qualified", "booked"]), isConfirmed: false };
    changes.set(id, change);
    const confirmed = setLeadStatus(account, id, change.status, Date.now() + 5000).then(
      () => true,
      () => false,
    );
    change.isConfirmed = await confirmed;
  }

  /** @returns undefined when no request succeeded */
  async #request<Name extends RouteName>(
    name: Name,
    request: TestRequest,
    { tries, timeout }: RetryPolicy,
  ): Promise<ResponseBodies[Name] | undefined> {
    for (let tried = 0; tried < tries; tried++) {
      const response = await this.#send(name, request, timeout);
      if (!response) continue;
      const { status, body, headers, problem } = response;
      if (status === routes[name].success) return body;
      const isRefused = status === 429 || (status === 503 && problem.code === "busy");
      const seconds = Number(headers["retry-after"]);
      if (!isRefused || !Number.isInteger(seconds)) {
        this.#ledger.violations.push(`${name} returned ${JSON.stringify(response)}`);
        return undefined;
      }
      await setTimeout(seconds * 1000);
    }
    return undefined;
  }

  /** @returns undefined after the timeout; the call continues without its client */
  async #send<Name extends RouteName>(name: Name, request: TestRequest, timeout: number) {
    const called = call(name, { account: this.#ledger.account, ...request });
    this.#calls.push(called);
    this.#ledger.requests++;
    const timer = new AbortController();
    const late = setTimeout(timeout, undefined, { signal: timer.signal }).catch(() => undefined);
    try {
      return await Promise.race([called, late]);
    } finally {
      timer.abort();
    }
  }
}
