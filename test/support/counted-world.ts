import { randomUUID } from "node:crypto";
import { DeleteCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { ulid } from "ulid";
import { expect } from "vitest";
import { rebuild } from "../../lib/ops/counts/rebuild.ts";
import { leadItem, listLeads } from "../../shared/domain/leads.ts";
import { isBusy, TooExpensiveError } from "../../shared/dynamodb/dynamodb-errors.ts";
import { leadKey } from "../../shared/dynamodb/keys.ts";
import { tableName } from "../../shared/dynamodb/table-client.ts";
import { maintainLists, type Unsettled } from "../../shared/pages/maintenance/maintain-lists.ts";
import { countedLists } from "../../shared/pages/tree/counted-list.ts";
import type { Limits } from "../../shared/pages/tree/tree-limits.ts";
import { isTreeChanged } from "../../shared/pages/tree/tree-store.ts";
import { type Lead, leadStatuses } from "../../shared/schemas/lead-schemas.ts";
import { type Actor, Interleaving } from "./interleaving.ts";

/** A change of the table that no maintainer has finished counting. */
interface Change {
  readonly key: string;
  readonly kind: "created" | "backdated" | "deleted" | "changed";
}

/** How long after its id was created a route's write may land, in milliseconds. */
const landsWithin = 3000;

const newestFirst = (a: Lead, b: Lead) => (a.id < b.id ? 1 : -1);

/** An account's leads in the table, the same leads in memory, and the actors that work on them concurrently. */
export class CountedWorld {
  readonly io = new Interleaving(Date.UTC(2026, 0, 1));
  readonly account = randomUUID();
  readonly owner = { account: this.account, list: countedLists.lead };
  /** The leads in the table, by id. */
  readonly leads = new Map<string, Lead>();
  readonly #limits: Limits;
  /** Changes that the stream has not delivered yet, or must deliver again after a crash. */
  #pending: Change[] = [];
  readonly #delivered: Change[] = [];
  readonly #unsettled: Unsettled = new Map();
  readonly #maintainers = new Map<Actor, readonly Change[]>();
  readonly #creates = new Map<Actor, number>();
  #rebuild: Actor | undefined;
  /** Whether a route's write has landed since the last `look`. */
  #landed = false;
  #readers: { born: Set<string>; slack: { backdated: number; deleted: number } }[] = [];

  constructor(limits: Limits) {
    this.#limits = limits;
    this.io.beforeAdvance = async (to) => {
      for (const [actor, landBy] of this.#creates) if (landBy < to) await this.io.finish(actor);
    };
  }

  /** A route creates a lead. The write lands when its gate opens, at the latest after `landsWithin`. */
  async create(source?: string): Promise<void> {
    const lead = this.#newLead(this.io.now, source);
    const actor = await this.io.start("create", async (self) => {
      await this.io.pause();
      await this.put(lead, "created");
      this.#creates.delete(self);
      this.#landed = true;
    });
    this.#creates.set(actor, this.io.now + landsWithin);
  }

  /** An operator's import writes a lead with an earlier creation time. */
  async backdate(age: number, source?: string): Promise<void> {
    await this.put(this.#newLead(this.io.now - age, source), "backdated");
  }

  async changeStatus(at: number, status: Lead["status"]): Promise<void> {
    const lead = this.#at(at);
    if (lead && lead.status !== status) await this.put({ ...lead, status }, "changed");
  }

  async delete(at: number): Promise<void> {
    const lead = this.#at(at);
    if (!lead) return;
    await this.io.direct(new DeleteCommand({ TableName: tableName, Key: leadKey(this.account, lead.id) }));
    this.leads.delete(lead.id);
    this.#changed({ key: lead.id, kind: "deleted" });
  }

  /** The stream delivers some changes, in any order, and repeats some that were delivered before. */
  async deliver(order: readonly number[], again: readonly number[], skew = 0): Promise<Actor> {
    const batch: Change[] = [];
    for (const index of order) {
      batch.push(...this.#pending.splice(index % Math.max(1, this.#pending.length), 1));
    }
    const keys = [...batch, ...again.flatMap((index) => this.#delivered.slice(index, index + 1))].map(
      ({ key }) => key,
    );
    const maintainer = await this.io.start(
      "maintainer",
      async (self) => {
        const changes = [{ owner: this.owner, keys, sequenceNumbers: keys }];
        const means = { limits: this.#limits, wait: this.io.wait, unsettled: this.#unsettled };
        const [unfinished] = await maintainLists(changes, { deadline: Number.POSITIVE_INFINITY, ...means });
        (unfinished ? this.#pending : this.#delivered).push(...batch);
        this.#maintainers.delete(self);
        const { error } = unfinished ?? {};
        // Other commits may have come first until its time was up.
        if (error && !isTreeChanged(error) && !isBusy(error)) throw error;
      },
      skew,
    );
    if (!maintainer.done) this.#maintainers.set(maintainer, batch);
    return maintainer;
  }

  crashMaintainer(at: number): void {
    const [maintainer, batch] = [...this.#maintainers][at % Math.max(1, this.#maintainers.size)] ?? [];
    if (!maintainer || !batch) return;
    this.io.crash(maintainer);
    this.#maintainers.delete(maintainer);
    this.#pending.push(...batch);
  }

  async rebuild(): Promise<void> {
    if (this.#rebuild && !this.#rebuild.done) return;
    const { limits, wait } = { limits: this.#limits, wait: this.io.wait };
    this.#rebuild = await this.io.start("rebuild", () => rebuild(this.owner, { limits, wait }));
  }

  crashRebuild(): void {
    if (this.#rebuild) this.io.crash(this.#rebuild);
    this.#rebuild = undefined;
  }

  /** Reads the first page if a route's write has landed since the last `look`: the total must include it. */
  async look(): Promise<void> {
    if (!this.#landed) return;
    this.#landed = false;
    await this.read(1);
  }

  /** Reads a page while nothing else runs: exact, except for undelivered changes of counted rows. */
  async read(page: number): Promise<void> {
    const reader = await this.io.start("reader", async () => {
      const { backdated, deleted } = this.#slack();
      const response = await listLeads(this.account, {}, { page, limit: 4 });
      const { total } = response.pagination;
      expect(total).toBeGreaterThanOrEqual(this.leads.size - backdated);
      expect(total).toBeLessThanOrEqual(this.leads.size + deleted);
      if (backdated + deleted === 0) expect(response.data).toEqual(this.#page({}, page, 4));
    });
    await this.io.finish(reader);
    if (reader.error) throw reader.error;
  }

  /**
   * Reads a page while others run: the total includes every lead that exists throughout, and none that never existed. A
   * list that takes more time than it may has no response.
   */
  async readSlowly(page: number): Promise<Actor> {
    const before = [...this.leads.keys()];
    const watch = { born: new Set(before), slack: this.#slack() };
    this.#readers.push(watch);
    return this.io.start("slow reader", async () => {
      const response = await listLeads(this.account, {}, { page, limit: 4 }).catch((error: unknown) => {
        if (!(error instanceof TooExpensiveError)) throw error;
      });
      this.#readers = this.#readers.filter((reader) => reader !== watch);
      if (!response) return;
      const unchanged = before.filter((id) => this.leads.has(id)).length;
      expect(response.pagination.total).toBeGreaterThanOrEqual(unchanged - watch.slack.backdated);
      expect(response.pagination.total).toBeLessThanOrEqual(watch.born.size + watch.slack.deleted);
      expect(response.data).toEqual(response.data.toSorted(newestFirst));
      expect(new Set(response.data.map(({ id }) => id)).size).toBe(response.data.length);
    });
  }

  /** The page that a list must return. */
  response(filter: { source?: string; status?: string }, page: number, limit: number) {
    const total = this.#matching(filter).length;
    return { data: this.#page(filter, page, limit), pagination: { page, limit, total } };
  }

  /** Runs every actor to its end and delivers all changes. */
  async drain(): Promise<void> {
    for (let steps = 0; this.io.waiting > 0; steps++) {
      if (steps > 3000) throw new Error(`The actors do not end: ${this.io.describe()}`);
      await this.io.step(steps);
    }
    while (this.#pending.length > 0) {
      await this.io.advanceTo(this.io.now + 10_000);
      const maintainer = await this.deliver(
        this.#pending.map(() => 0),
        [],
      );
      await this.io.finish(maintainer);
      if (maintainer.error) throw maintainer.error;
    }
  }

  /** Compares every page of every filter with the leads in memory. */
  async compare(sources: readonly (string | undefined)[]): Promise<void> {
    for (const source of sources) {
      for (const status of [undefined, ...leadStatuses]) {
        const filter = { ...(source !== undefined && { source }), ...(status && { status }) };
        const total = this.#matching(filter).length;
        for (let page = 1; page <= Math.ceil(total / 3) + 1; page++) {
          const reader = await this.io.start("comparison", async () => {
            const response = await listLeads(this.account, filter, { page, limit: 3 });
            expect(response).toEqual(this.response(filter, page, 3));
          });
          await this.io.finish(reader);
          if (reader.error) throw reader.error;
        }
      }
    }
  }

  /** Writes a lead and queues the change for the stream. */
  async put(lead: Lead, kind: Change["kind"]): Promise<void> {
    const Item = leadItem(this.account, lead);
    await this.io.direct(new PutCommand({ TableName: tableName, Item }));
    this.leads.set(lead.id, lead);
    this.#changed({ key: lead.id, kind });
  }

  #changed(change: Change): void {
    this.#pending.push(change);
    const slack = this.#slack();
    for (const reader of this.#readers) {
      reader.born.add(change.key);
      reader.slack.backdated = Math.max(reader.slack.backdated, slack.backdated);
      reader.slack.deleted = Math.max(reader.slack.deleted, slack.deleted);
    }
  }

  /** By how many leads a total may be off because changes were not delivered or not counted yet. */
  #slack() {
    const open = [...this.#pending, ...[...this.#maintainers.values()].flat()];
    const count = (kind: Change["kind"]) => open.filter((change) => change.kind === kind).length;
    return { backdated: count("backdated"), deleted: count("deleted") };
  }

  #newLead(at: number, source?: string): Lead {
    const id = `lead_${ulid(at)}`;
    const createdAt = new Date(at).toISOString();
    return {
      id,
      name: "x",
      score: 0,
      status: "new",
      ...(source !== undefined && { source }),
      tags: [],
      createdAt,
    };
  }

  #at(index: number): Lead | undefined {
    return [...this.leads.values()][index % Math.max(1, this.leads.size)];
  }

  #matching(filter: { source?: string; status?: string }): Lead[] {
    return [...this.leads.values()]
      .filter((lead) => filter.source === undefined || lead.source === filter.source)
      .filter((lead) => filter.status === undefined || lead.status === filter.status)
      .sort(newestFirst);
  }

  #page(filter: { source?: string; status?: string }, page: number, limit: number): Lead[] {
    return this.#matching(filter).slice((page - 1) * limit, page * limit);
  }
}
