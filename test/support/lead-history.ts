import { randomUUID } from "node:crypto";
import { DeleteCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { vi } from "vitest";
import { leadItem, listLeads } from "../../shared/domain/leads.ts";
import { leadKey } from "../../shared/dynamodb/keys.ts";
import { type Item, tableName } from "../../shared/dynamodb/table-client.ts";
import { newId } from "../../shared/ids.ts";
import { countedChanges, type RowChange } from "../../shared/pages/maintain/changes.ts";
import { maintainLists, type Unsettled } from "../../shared/pages/maintain/maintain-lists.ts";
import type { PageRequest } from "../../shared/pages/page.ts";
import { forgetTails } from "../../shared/pages/read/tail.ts";
import { countedLists } from "../../shared/pages/tree/counted-list.ts";
import { limits as deployedLimits, type Limits } from "../../shared/pages/tree/tree-limits.ts";
import type { Lead, LeadsQuery } from "../../shared/schemas/lead-schemas.ts";
import { streamRecord } from "./stream-record.ts";
import { type WatchedCall, WatchedTable } from "./watched-table.ts";

/** What a test sets of a lead. */
export interface LeadInput extends Partial<Pick<Lead, "source" | "status">> {
  /** How much earlier than now its id is, in milliseconds. */
  readonly age?: number;
  /** How many bytes it has besides its other fields. */
  readonly padding?: number;
}

interface Landing {
  readonly lead: Lead;
  readonly padding: number;
  readonly at: number;
}

/** An account's leads in a table in memory and in a model of it, with a clock that only the test moves. */
export class LeadHistory {
  readonly table: WatchedTable;
  readonly account = randomUUID();
  readonly owner = { account: this.account, list: countedLists.lead };
  /** The leads in the table, by id. */
  leads = new Map<string, Lead>();
  /** The changes of the stream that were not delivered, in its order. The key of a row is its sequence number, too. */
  changes: RowChange[] = [];
  /** Whether a deletion, or a change of a status, was not delivered. */
  changed = false;
  now: number;
  unsettled: Unsettled = new Map();
  #landings: Landing[] = [];
  /** When a list or a maintainer last ran: a lead that was written since may have landed at any time since. */
  #seen = 0;

  constructor(table = new WatchedTable(), start = Date.UTC(2026, 0, 1)) {
    this.table = table;
    this.now = start;
    vi.useFakeTimers({ toFake: ["Date"], now: start });
  }

  /** @returns a function that brings the present back, in an environment that remembers nothing */
  save(): () => void {
    const memory = this.table.memory.snapshot();
    const { changed, now } = this;
    const leads = [...this.leads];
    const changes = [...this.changes];
    const unsettled = [...this.unsettled];
    const landings = [...this.#landings];
    const seen = this.#seen;
    return () => {
      this.table.memory.restore(memory);
      this.leads = new Map(leads);
      this.changes = [...changes];
      this.changed = changed;
      this.unsettled = new Map(unsettled);
      this.#landings = [...landings];
      this.#seen = seen;
      this.now = now;
      vi.setSystemTime(now);
      forgetTails();
    };
  }

  /** Moves the clock; leads land meanwhile. */
  advance(by: number): void {
    const end = this.now + by;
    const due = this.#landings.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
    this.#landings = this.#landings.filter(({ at }) => at > end);
    for (const { lead, padding, at } of due) this.#put(lead, padding, at);
    this.now = end;
    vi.setSystemTime(end);
  }

  /** Writes a lead now. @returns its id */
  add(input: LeadInput = {}): string {
    const lead = this.#newLead(input);
    this.#put(lead, input.padding ?? 0, Math.max(this.#seen, this.now - (input.age ?? 0)));
    return lead.id;
  }

  /** Writes many leads, a millisecond apart; the newest has the `age`. */
  addMany(count: number, { age = 0, ...input }: LeadInput = {}): void {
    for (let i = count - 1; i >= 0; i--) this.add({ ...input, age: age + i });
  }

  /** Creates the id of a lead that lands later. */
  addLate(input: LeadInput, late: number): void {
    this.#landings.push({ lead: this.#newLead(input), padding: input.padding ?? 0, at: this.now + late });
  }

  setStatus(id: string, status: Lead["status"]): void {
    const lead = this.leads.get(id);
    if (!lead || lead.status === status) return;
    this.#put({ ...lead, status }, 0);
    this.changed = true;
  }

  delete(id: string): void {
    const lead = this.leads.get(id);
    if (!this.leads.delete(id) || !lead) return;
    this.table.memory.execute(new DeleteCommand({ TableName: tableName, Key: leadKey(this.account, id) }));
    this.#note(leadItem(this.account, lead), undefined);
    this.changed = true;
  }

  /** The stream delivers all changes. @param skew how far the clock of the maintainer is ahead */
  async deliver(limits: Limits = deployedLimits, skew = 0): Promise<void> {
    this.#seen = this.now;
    const rows = this.changes;
    this.changes = [];
    const wait = async (milliseconds: number) => {
      this.advance(Math.ceil(milliseconds));
      vi.setSystemTime(this.now + skew);
    };
    vi.setSystemTime(this.now + skew);
    const changes = rows.length > 0 ? [{ owner: this.owner, rows }] : [];
    const means = { deadline: this.now + skew + 60_000, limits, wait, unsettled: this.unsettled };
    const unfinished = await maintainLists(changes, means);
    vi.setSystemTime(this.now);
    this.#seen = this.now;
    if (unfinished.length > 0) throw new Error("The maintainer has not finished.", { cause: unfinished });
    this.changed = false;
  }

  /** Stops a maintainer of all changes before each of its calls, one after another; then the stream delivers them again. */
  async interruptEachCall(
    limits: Limits,
    check: (made: readonly WatchedCall[], again: readonly WatchedCall[]) => Promise<unknown>,
    meanwhile: () => Promise<unknown>,
  ): Promise<void> {
    const restore = this.save();
    const { calls } = await this.table.watch(() => this.deliver(limits));
    for (let nth = 0; nth < calls.length; nth++) {
      restore();
      const { changes } = this;
      this.table.before = (_, call) => {
        if (call > nth) throw new Error("interrupted");
      };
      const error = await this.table.watch(() => this.deliver(limits)).catch((error: unknown) => error);
      if (!String(error).includes("not finished")) throw error;
      const made = this.table.calls.slice(0, nth);
      this.table.before = () => {};
      await meanwhile();
      this.changes = [...changes];
      await check(made, (await this.table.watch(() => this.deliver(limits))).calls);
    }
  }

  list(filter: LeadsQuery = {}, request: PageRequest = { page: 1, limit: 20 }) {
    this.#seen = this.now;
    return listLeads(this.account, filter, request);
  }

  /** The page that a list must return. */
  expected({ status, source }: LeadsQuery = {}, { page, limit }: PageRequest = { page: 1, limit: 20 }) {
    const matching = [...this.leads.values()]
      .filter((lead) => source === undefined || lead.source === source)
      .filter((lead) => status === undefined || lead.status === status)
      .sort((a, b) => (a.id < b.id ? 1 : -1));
    return {
      data: matching.slice((page - 1) * limit, page * limit),
      pagination: { page, limit, total: matching.length },
    };
  }

  #newLead({ age = 0, status = "new", source }: LeadInput): Lead {
    const at = this.now - age;
    return {
      id: newId("lead", at),
      ...{ name: "x", score: 0, status, tags: [], createdAt: new Date(at).toISOString() },
      ...(source !== undefined && { source }),
    };
  }

  #put(lead: Lead, padding: number, time = this.now): void {
    const before = this.leads.get(lead.id);
    const Item = { ...leadItem(this.account, lead), ...(padding > 0 && { padding: "x".repeat(padding) }) };
    this.table.memory.execute(new PutCommand({ TableName: tableName, Item }));
    this.leads.set(lead.id, lead);
    this.#note(before && leadItem(this.account, before), leadItem(this.account, lead), time);
  }

  #note(before: Item | undefined, after: Item | undefined, time = this.now): void {
    const counted = countedChanges([streamRecord(before, after, time)]);
    this.changes.push(
      ...counted.flatMap(({ rows }) => rows).map((row) => ({ ...row, sequenceNumber: row.key })),
    );
  }
}
