import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { ulid } from "ulid";
import { leadItem } from "../../../shared/domain/leads.ts";
import { readListPartition } from "../../../shared/dynamodb/keys.ts";
import { createdAt } from "../../../shared/ids.ts";
import type { NewLead } from "../../../shared/schemas/lead-schemas.ts";
import type { Change } from "../../support/memory-table.ts";
import { seeded } from "../../support/random.ts";
import { Arrivals } from "./arrivals.ts";
import type { Served } from "./function-pool.ts";
import { Landings } from "./landings.ts";
import { pageSize } from "./page-check.ts";
import { create, list, type Request } from "./request.ts";
import { type Service, type ServiceOptions, startService } from "./service.ts";
import { sizedLeads, usualSources } from "./sized-lead.ts";
import { oldestUncounted } from "./tree-view.ts";

/** The mean rates at which an account's clients send requests, whatever becomes of earlier ones. */
export interface Load {
  readonly createsPerSecond: number;
  readonly listsPerSecond: number;
  /** Whether each list is that of one of the sources, and not of the whole account. */
  readonly ofSources?: boolean | undefined;
}

/** An account's state at a time. */
interface Sample {
  /** In milliseconds since the epoch. */
  readonly at: number;
  /** The age of the oldest change that the stream has not delivered, in milliseconds. */
  readonly streamAge: number;
  /** The age of the oldest lead that the tree has not counted, in milliseconds. */
  readonly tailAge: number;
}

interface SimulationOptions extends ServiceOptions {
  readonly accounts: readonly string[];
  readonly leadBytes: number;
  /** The sources of new leads; some usual ones by default. */
  readonly sources?: readonly string[] | undefined;
}

/** How often accounts are sampled, in milliseconds. */
const samplePeriod = 5000;

/** The service in virtual time and the clients of some accounts. */
export class Simulation {
  readonly service: Service;
  readonly requests: Request[] = [];
  readonly samples = new Map<string, Sample[]>();
  readonly #random: () => number;
  readonly #arrivals: Arrivals;
  readonly #accounts: ReadonlySet<string>;
  /** By account, and by account and source. */
  readonly #landings = new Map<string, Landings>();
  readonly #sources: readonly string[];
  readonly #leads: (n: number) => NewLead;
  #created = 0;

  constructor({ accounts, leadBytes, sources = usualSources, ...options }: SimulationOptions) {
    this.service = startService(options, (change) => this.#landed(change));
    this.#random = seeded(options.seed + 1);
    this.#arrivals = new Arrivals(this.service.clock, this.#random);
    this.#accounts = new Set(accounts);
    this.#sources = sources;
    this.#leads = sizedLeads(leadBytes, accounts[0] ?? "", sources);
    for (const account of accounts) this.samples.set(account, []);
    for (const after of this.service.memory.items())
      this.#landed({ key: { pk: String(after.pk), sk: String(after.sk) }, before: undefined, after });
    this.#sample();
  }

  /** Replaces the loads of all accounts. */
  setLoads(loads: Readonly<Record<string, Load>>): void {
    this.#arrivals.stop();
    for (const [account, { createsPerSecond, listsPerSecond, ofSources }] of Object.entries(loads)) {
      this.#arrivals.start(createsPerSecond, () => this.#create(account));
      this.#arrivals.start(listsPerSecond, () =>
        this.#list(account, ofSources ? this.#randomSource() : undefined),
      );
    }
  }

  /** Stores a lead now, as a request does, but at no cost. */
  seed(account: string): void {
    const id = `lead_${ulid(Math.floor(this.service.clock.now), this.#random)}`;
    const lead = { score: 0, status: "new" as const, tags: [], ...this.#leads(this.#created++), id };
    const Item = leadItem(account, { ...lead, createdAt: createdAt(id) });
    this.service.memory.execute(new PutCommand({ TableName: "overload", Item }));
  }

  /** Runs for some time. */
  run(seconds: number): Promise<void> {
    const { clock } = this.service;
    return clock.runUntil(clock.now + seconds * 1000);
  }

  async #create(account: string): Promise<void> {
    const { clock, pools } = this.service;
    const start = clock.now;
    const { answer, served } = await create(pools["create-lead"], account, this.#leads(this.#created++));
    this.#record({ account, kind: "create", page: 0, answer, start }, served);
  }

  async #list(account: string, source: string | undefined): Promise<void> {
    const { clock, pools } = this.service;
    const start = clock.now;
    const landings = this.#landingsOf(account, source);
    const page = this.#page(landings.count);
    const { answer, served } = await list(pools["list-leads"], { account, source, page }, landings);
    this.#record({ account, kind: "list", page, answer, start }, served);
  }

  #record(request: Omit<Request, "end" | keyof Served>, served: Served): void {
    this.requests.push({ ...request, end: this.service.clock.now, ...served });
  }

  /** The first page mostly, else one of the next four or any. */
  #page(rows: number): number {
    const kind = this.#random();
    const position = this.#random();
    if (kind < 0.8) return 1;
    if (kind < 0.9) return 2 + Math.floor(position * 4);
    return 1 + Math.floor((position * rows) / pageSize);
  }

  #randomSource(): string | undefined {
    return this.#sources[Math.floor(this.#random() * this.#sources.length)];
  }

  #landed({ key, before, after }: Pick<Change, "key" | "before" | "after">): void {
    const account = readListPartition(key.pk)?.account;
    if (account === undefined || before) return;
    this.#landingsOf(account).add(key.sk);
    if (typeof after?.source === "string") this.#landingsOf(account, after.source).add(key.sk);
  }

  #landingsOf(account: string, source?: string): Landings {
    if (!this.#accounts.has(account)) throw new Error(`The account ${account} is not simulated.`);
    const id = JSON.stringify([account, source]);
    const landings = this.#landings.get(id) ?? new Landings();
    this.#landings.set(id, landings);
    return landings;
  }

  #sample(): void {
    const { clock, memory, source } = this.service;
    const at = clock.now;
    for (const [account, samples] of this.samples) {
      const tailAge = at - (oldestUncounted(memory, account) ?? at);
      samples.push({ at, streamAge: source.age(account), tailAge });
    }
    clock.after(samplePeriod, () => this.#sample());
  }
}
