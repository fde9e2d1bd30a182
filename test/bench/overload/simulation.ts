import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { leadItem } from "../../../shared/domain/leads.ts";
import { readListPartition } from "../../../shared/dynamodb/keys.ts";
import { createdAt, newId } from "../../../shared/ids.ts";
import type { NewLead } from "../../../shared/schemas/lead-schemas.ts";
import { PartitionLimits, type PartitionRates } from "../../support/dynamodb-limits/partition-limits.ts";
import { MemoryTable } from "../../support/memory-table.ts";
import { seeded } from "../../support/random.ts";
import { EventSource } from "./event-source.ts";
import { FunctionPool, type Served } from "./function-pool.ts";
import { LimitedMemoryTable } from "./limited-memory-table.ts";
import type { FunctionName, Product } from "./product.ts";
import { create, list, pageSize, type Request } from "./request.ts";
import type { Host } from "./sdk/host.ts";
import { sizedLeads } from "./sized-lead.ts";
import { oldestUncounted } from "./tree-view.ts";
import { VirtualClock } from "./virtual-clock.ts";
import { virtualGlobals } from "./virtual-globals.ts";

/** The rates at which an account's clients send requests, whatever becomes of earlier ones. */
export interface Load {
  readonly createsPerSecond: number;
  readonly listsPerSecond: number;
}

/** An account's state at a time. */
export interface Sample {
  /** In milliseconds since the epoch. */
  readonly at: number;
  /** The age of the oldest change that the stream has not delivered, in milliseconds. */
  readonly streamAge: number;
  /** The age of the oldest lead that the tree has not counted, in milliseconds. */
  readonly tailAge: number;
}

export interface SimulationOptions {
  readonly product: Product;
  readonly rates: PartitionRates;
  readonly leadBytes: number;
  readonly accounts: readonly string[];
  readonly seed: number;
  /** Whether the maintainer runs from the start. */
  readonly maintained?: boolean;
}

/** The timeouts of the functions, in milliseconds, as the stack sets them. */
const timeouts: Readonly<Record<FunctionName, number>> = {
  "create-lead": 10_000,
  "list-leads": 10_000,
  "maintain-counts": 60_000,
};

const start = Date.UTC(2026, 6, 1);

/** How often accounts are sampled, in milliseconds. */
const samplePeriod = 5000;

/** The service in virtual time: its functions, its table with limits, and its stream. */
export class Simulation {
  readonly clock = new VirtualClock(start);
  readonly memory: MemoryTable;
  readonly requests: Request[] = [];
  readonly samples = new Map<string, Sample[]>();
  readonly source: EventSource;
  readonly pools: Readonly<Record<FunctionName, FunctionPool>>;
  readonly #random: () => number;
  readonly #landed = new Map<string, number>();
  readonly #leads: (n: number) => NewLead;
  #created = 0;
  #loads = new Map<string, Load>();
  /** Raised with each change of the loads, which ends the arrivals of the ones before. */
  #generation = 0;

  constructor({ product, rates, leadBytes, accounts, seed, maintained = true }: SimulationOptions) {
    const { clock } = this;
    this.#random = seeded(seed);
    this.memory = new MemoryTable({
      onChange: (change) => {
        const account = readListPartition(change.key.pk)?.account;
        if (account !== undefined && !change.before) this.#landed.set(account, this.#landedOf(account) + 1);
        this.source.receive(change);
      },
    });
    const table = new LimitedMemoryTable(this.memory, new PartitionLimits(rates, () => clock.now), clock);
    const globals = virtualGlobals(clock, seeded(seed + 1));
    const createHost = (served: () => Served): Host => ({
      attempt(command, abortSignal) {
        const request = served();
        const observe = ({ readUnits, throttled }: { readUnits: number; throttled: boolean }) => {
          request.calls++;
          request.readUnits += readUnits;
          if (throttled) request.throttled++;
        };
        return table.attempt(command, observe, abortSignal);
      },
    });
    const createPool = (name: FunctionName) =>
      new FunctionPool({ clock, load: product[name], globals, createHost, timeout: timeouts[name] });
    this.pools = {
      "create-lead": createPool("create-lead"),
      "list-leads": createPool("list-leads"),
      "maintain-counts": createPool("maintain-counts"),
    };
    const maintain = async (event: object) => (await this.pools["maintain-counts"].invoke(event)).result;
    this.source = new EventSource(clock, maintain, maintained);
    this.#leads = sizedLeads(leadBytes, accounts[0] ?? "");
    for (const account of accounts) this.samples.set(account, []);
    this.#sample();
  }

  /** Replaces the loads of all accounts. */
  setLoads(loads: Readonly<Record<string, Load>>): void {
    this.#generation++;
    this.#loads = new Map(Object.entries(loads));
    for (const [account, { createsPerSecond, listsPerSecond }] of this.#loads) {
      this.#arrive(createsPerSecond, this.#generation, () => this.#create(account));
      this.#arrive(listsPerSecond, this.#generation, () => this.#list(account));
    }
  }

  /** Stores a lead at the present, as a request does, but at no cost. */
  seed(account: string): void {
    const id = newId("lead", this.clock.now);
    const lead = { score: 0, status: "new" as const, tags: [], ...this.#leads(this.#created++), id };
    const Item = leadItem(account, { ...lead, createdAt: createdAt(id) });
    this.memory.execute(new PutCommand({ TableName: "overload", Item }));
  }

  /** Runs for some time. */
  run = (seconds: number) => this.clock.runUntil(this.clock.now + seconds * 1000);

  /** Sends requests at random times with a mean rate: a Poisson process. */
  #arrive(perSecond: number, generation: number, send: () => Promise<void>): void {
    if (perSecond === 0) return;
    const wait = (-Math.log(1 - this.#random()) / perSecond) * 1000;
    this.clock.after(wait, () => {
      if (generation !== this.#generation) return;
      void send();
      this.#arrive(perSecond, generation, send);
    });
  }

  async #create(account: string): Promise<void> {
    const start = this.clock.now;
    const { answer, served } = await create(this.pools["create-lead"], account, this.#leads(this.#created++));
    this.#record({ account, kind: "create", page: 0, answer, start }, served);
  }

  async #list(account: string): Promise<void> {
    const start = this.clock.now;
    const landed = () => this.#landedOf(account);
    const page = this.#page(landed());
    const { answer, served } = await list(this.pools["list-leads"], account, page, landed);
    this.#record({ account, kind: "list", page, answer, start }, served);
  }

  #record(request: Omit<Request, "end" | "calls" | "readUnits">, served: Served): void {
    const { calls, readUnits } = served;
    this.requests.push({ ...request, end: this.clock.now, calls, readUnits });
  }

  /** The first page mostly, else one of the next four or any. */
  #page(rows: number): number {
    const kind = this.#random();
    const position = this.#random();
    if (kind < 0.8) return 1;
    if (kind < 0.9) return 2 + Math.floor(position * 4);
    return 1 + Math.floor((position * rows) / pageSize);
  }

  #landedOf = (account: string) => this.#landed.get(account) ?? 0;

  #sample(): void {
    for (const [account, samples] of this.samples) {
      const at = this.clock.now;
      const oldest = oldestUncounted(this.memory, account);
      samples.push({
        at,
        streamAge: this.source.age(account),
        tailAge: oldest === undefined ? 0 : at - oldest,
      });
    }
    this.clock.after(samplePeriod, () => this.#sample());
  }
}
