import type { Message } from "../../shared/schemas/conversation-schemas.ts";
import type { Lead } from "../../shared/schemas/lead-schemas.ts";
import { pick, seeded, skewed } from "../support/random.ts";
import { type Call, Client, type RetryPolicy } from "./client.ts";
import type { Ledger, Write, WriteName } from "./ledger.ts";
import { Lister } from "./lister.ts";
import { Operator } from "./operator.ts";
import { channels, emails, sources } from "./values.ts";

export interface Traffic {
  readonly call: Call;
  readonly ledger: Ledger;
  readonly accounts: readonly string[];
  /** Whether enough requests have been sent. */
  readonly isEnough: () => boolean;
  /** How many clients send concurrently. */
  readonly clients: number;
  readonly seed: number;
}

/** Sends requests from many clients concurrently, and waits for all calls to end. */
export async function drive(traffic: Traffic): Promise<void> {
  const clients = Array.from({ length: traffic.clients }, (_, number) => new Caller(traffic, number));
  await Promise.all(clients.map((client) => client.run()));
  await Promise.all(traffic.ledger.inProgress);
}

/** Some clients time out early; those that do not retry need no Idempotency-Key. */
const retryPolicies: readonly RetryPolicy[] = [
  { tries: 6, timeout: 10_000 },
  { tries: 6, timeout: 1200 },
  { tries: 1, timeout: 10_000 },
];

class Caller {
  readonly #traffic: Traffic;
  readonly #number: number;
  readonly #random: () => number;
  readonly #client: Client;
  readonly #lister: Lister;
  readonly #operator: Operator;
  #writes = 0;

  constructor(traffic: Traffic, number: number) {
    this.#traffic = traffic;
    this.#number = number;
    this.#random = seeded(traffic.seed + number);
    this.#client = new Client(traffic.call, traffic.ledger);
    this.#lister = new Lister(this.#client, traffic.ledger, this.#random);
    this.#operator = new Operator(traffic.ledger);
  }

  async run(): Promise<void> {
    const { isEnough } = this.#traffic;
    const next = skewed<() => Promise<unknown>>(this.#random, [
      [() => this.#createLead(), 22],
      [() => this.#sendMessage(), 38],
      [() => this.#lister.leads(this.#account()), 18],
      [() => this.#lister.conversations(this.#account()), 18],
      [() => this.#changeLead(), 2],
      [() => this.#closeConversation(), 2],
    ]);
    while (!isEnough()) await next()();
  }

  async #createLead(): Promise<void> {
    const account = this.#account();
    const source = this.#random() < 0.8 ? { source: pick(this.#random, sources) } : {};
    const email = this.#random() < 0.5 ? { email: pick(this.#random, emails) } : {};
    const marker = this.#marker(account);
    await this.#write("create-lead", account, marker, { name: marker, ...source, ...email });
  }

  /** Prefers the first leads, so that messages join the same conversations. */
  async #sendMessage(): Promise<void> {
    const account = this.#account();
    const lead = this.#traffic.ledger.acknowledged<Lead>("create-lead", account, this.#random() ** 3);
    if (!lead) return this.#createLead();
    const message = this.#marker(account);
    const body = { leadId: lead.id, channel: pick(this.#random, channels), message };
    await this.#write("send-message", account, message, body);
  }

  async #write(name: WriteName, account: string, marker: string, body: object): Promise<void> {
    const { ledger } = this.#traffic;
    const write: Write = { name, account, marker };
    ledger.writes.push(write);
    const retryPolicy = pick(this.#random, retryPolicies);
    const keyed = retryPolicy.tries > 1;
    const request = { account, body, ...(keyed && { headers: { "idempotency-key": marker } }) };
    const success = await this.#client.request(name, request, retryPolicy);
    if (!success) return;
    write.acknowledged = { at: success.end, record: success.body };
    if (keyed && this.#random() < 0.05) await this.#repeat(name, request, retryPolicy, success.body);
    if (keyed && this.#random() < 0.02) {
      const other = { ...body, ...(name === "create-lead" ? { tags: ["other"] } : { message: "other" }) };
      await this.#client.reuse(name, { ...request, body: other }, retryPolicy);
    }
  }

  /** Repeats a request that has succeeded. */
  async #repeat(name: WriteName, request: object, retryPolicy: RetryPolicy, first: object): Promise<void> {
    const repeated = await this.#client.request(name, request, retryPolicy);
    if (!repeated || (repeated.replayed && JSON.stringify(repeated.body) === JSON.stringify(first))) return;
    this.#traffic.ledger.violations.push(`${name}: repeated, it did not return ${JSON.stringify(first)}`);
  }

  async #changeLead(): Promise<void> {
    const account = this.#account();
    const lead = this.#traffic.ledger.acknowledged<Lead>("create-lead", account, this.#random());
    if (lead) await this.#operator.changeLead(account, lead.id, pick(this.#random, ["qualified", "booked"]));
  }

  async #closeConversation(): Promise<void> {
    const account = this.#account();
    const message = this.#traffic.ledger.acknowledged<Message>("send-message", account, this.#random());
    if (message) await this.#operator.closeConversation(account, message.conversationId);
  }

  #account(): string {
    return pick(this.#random, this.#traffic.accounts);
  }

  #marker(account: string): string {
    return `${account}-${this.#number}-${this.#writes++}`;
  }
}
