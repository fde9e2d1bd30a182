import type { Lead } from "../../shared/schemas/lead-schemas.ts";
import { pick } from "../support/random.ts";
import type { Client } from "./client.ts";
import type { Ledger, ListName } from "./ledger.ts";
import { channels, emails, sources } from "./values.ts";

const limit = 10;

/** Requests lists by few different filters, so that the same queries repeat. */
export class Lister {
  readonly #client: Client;
  readonly #ledger: Ledger;
  readonly #random: () => number;

  constructor(client: Client, ledger: Ledger, random: () => number) {
    this.#client = client;
    this.#ledger = ledger;
    this.#random = random;
  }

  leads(account: string): Promise<void> {
    const status: Record<string, string> = this.#random() < 0.25 ? { status: "new" } : {};
    const source: Record<string, string> =
      this.#random() < 0.5 ? { source: pick(this.#random, sources) } : {};
    const email: Record<string, string> =
      this.#random() < 0.2 ? { email: pick(this.#random, emails).toUpperCase() } : {};
    const known = this.#ledger.acknowledged<Lead>("create-lead", account, this.#random());
    const id: Record<string, string> = known && this.#random() < 0.05 ? { id: known.id } : {};
    const times = this.#times(known);
    return this.#list("list-leads", account, { ...status, ...source, ...email, ...times, ...id });
  }

  conversations(account: string): Promise<void> {
    const lead = this.#ledger.acknowledged<Lead>("create-lead", account, 0);
    const filters: Record<string, string>[] = [
      {},
      { channel: pick(this.#random, channels) },
      { status: "active" },
      lead ? { leadId: lead.id } : {},
    ];
    return this.#list("list-conversations", account, {
      ...pick(this.#random, filters),
      ...this.#times(lead),
    });
  }

  /** Sometimes a window that begins or ends with a row. */
  #times(lead: Lead | undefined): Record<string, string> {
    if (!lead || this.#random() < 0.6) return {};
    return { [pick(this.#random, ["createdAfter", "createdBefore"])]: lead.createdAt };
  }

  async #list(name: ListName, account: string, filter: Readonly<Record<string, string>>): Promise<void> {
    const page = this.#random() < 0.7 ? 1 : 1 + Math.floor(this.#random() * 4);
    const query = new URLSearchParams({ ...filter, page: String(page), limit: String(limit) }).toString();
    const success = await this.#client.request(name, { account, query }, { tries: 4, timeout: 10_000 });
    if (!success) return;
    const { start, end, body } = success;
    const { data, pagination } = body;
    if (pagination.page !== page || pagination.limit !== limit)
      this.#ledger.violations.push(`${name}: requested ${query}, got ${JSON.stringify(pagination)}`);
    const { total } = pagination;
    this.#ledger.listings.push({ name, account, filter, page, limit, start, end, data, total });
  }
}
