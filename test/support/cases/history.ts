import { randomUUID } from "node:crypto";
import { vi } from "vitest";
import { conversationItem, listConversations } from "../../../shared/domain/conversations/conversations.ts";
import { leadItem, listLeads } from "../../../shared/domain/leads.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { newId } from "../../../shared/ids.ts";
import { countedChanges, type RowChange } from "../../../shared/pages/maintain/changes.ts";
import { maintainLists, type Unsettled } from "../../../shared/pages/maintain/maintain-lists.ts";
import type { Page, PageRequest } from "../../../shared/pages/page.ts";
import { type CountedList, countedLists } from "../../../shared/pages/tree/counted-list.ts";
import { limits as deployedLimits, type Limits } from "../../../shared/pages/tree/tree-limits.ts";
import type { Conversation } from "../../../shared/schemas/conversation-schemas.ts";
import type { Lead, LeadsQuery } from "../../../shared/schemas/lead-schemas.ts";
import { startedConversation } from "../tables/stored.ts";
import { streamRecord } from "../tables/stream-record.ts";
import { WatchedTable } from "../tables/watched-table.ts";

type Row = Lead | Conversation;

/** The functions that make and list rows of a kind. */
interface Kind<R extends Row> {
  readonly list: CountedList;
  readonly row: (id: string, createdAt: string) => R;
  readonly item: (account: string, row: R) => Item;
  readonly page: (account: string, query: Filter<R> & { page: string; limit: string }) => Promise<Page<R>>;
}

/** The fields that a test sets in a row. */
type Input<R extends Row> = Partial<R> & {
  /** How old its id is, in milliseconds. */
  readonly age?: number;
  /** How many bytes it has in addition to its other fields. */
  readonly padding?: number;
};

/** The values that rows must have. */
type Filter<R extends Row> = Partial<Omit<R, "id" | "externalId">> &
  Pick<LeadsQuery, "createdAfter" | "createdBefore">;

const firstPage: PageRequest = { page: 1, limit: 20 };

/** An account's rows of a kind, in a table in memory and in a model of this table. Only the test moves the clock. */
class History<R extends Row> {
  readonly table = new WatchedTable();
  readonly account = randomUUID();
  readonly owner: { readonly account: string; readonly list: CountedList };
  /** The rows in the table, by id. */
  rows = new Map<string, R>();
  /** The stream's undelivered changes, in order. The key of a row is also the sequence number of its change. */
  changes: RowChange[] = [];
  now = Date.UTC(2026, 0, 1);
  unsettled: Unsettled = new Map();
  /** When a list or a maintainer last ran. A row that is written after that may have landed at any time in between. */
  seen = 0;
  readonly #kind: Kind<R>;

  constructor(kind: Kind<R>) {
    this.#kind = kind;
    this.owner = { account: this.account, list: kind.list };
    vi.useFakeTimers({ toFake: ["Date"], now: this.now });
  }

  /** Saves the present state. @returns a function that restores it */
  save(): () => void {
    const memory = this.table.memory.snapshot();
    const { rows, changes, now, unsettled, seen } = this;
    const state = structuredClone({ rows, changes, now, unsettled, seen });
    return () => {
      this.table.memory.restore(memory);
      Object.assign(this, structuredClone(state));
      vi.setSystemTime(this.now);
    };
  }

  /** Moves the clock. */
  advance(by: number): void {
    this.now += Math.ceil(by);
    vi.setSystemTime(this.now);
  }

  /** Writes a row now. @returns its id */
  add({ age = 0, padding = 0, ...fields }: Input<R> = {} as Input<R>): string {
    const id = newId(this.#kind.list.type === "lead" ? "lead" : "conv", this.now - age);
    const row = { ...this.#kind.row(id, new Date(this.now - age).toISOString()), ...fields };
    this.#write(id, row, padding, Math.max(this.seen, this.now - age));
    return id;
  }

  /** Writes rows a millisecond apart; the newest has the `age`. @param fields fields of the n-th row @returns their ids */
  addMany(
    count: number,
    { age = 0, ...input }: Input<R> = {} as Input<R>,
    fields: (n: number) => Partial<R> = () => ({}),
  ) {
    return Array.from({ length: count }, (_, n) =>
      this.add({ ...(input as Input<R>), ...fields(n), age: age + count - 1 - n }),
    );
  }

  setStatus(id: string, status: R["status"]): void {
    const row = this.rows.get(id);
    if (row && row.status !== status) this.#write(id, { ...row, status });
  }

  delete(id: string): void {
    if (this.rows.has(id)) this.#write(id, undefined);
  }

  /** Delivers all changes of the stream. @param skew how far the clock of the maintainer is ahead, in milliseconds */
  async deliver(limits: Limits = deployedLimits, skew = 0): Promise<void> {
    this.seen = this.now;
    const rows = this.changes;
    this.changes = [];
    const wait = async (milliseconds: number) => {
      this.advance(milliseconds);
      vi.setSystemTime(this.now + skew);
    };
    vi.setSystemTime(this.now + skew);
    const changes = rows.length > 0 ? [{ owner: this.owner, rows }] : [];
    const context = { deadline: this.now + skew + 60_000, limits, wait, unsettled: this.unsettled };
    const unfinished = await maintainLists(changes, context);
    vi.setSystemTime(this.now);
    this.seen = this.now;
    if (unfinished.length > 0) throw new Error("The maintainer has not finished.", { cause: unfinished });
  }

  list(filter: Filter<R> = {}, { page, limit }: PageRequest = firstPage): Promise<Page<R>> {
    this.seen = this.now;
    return this.#kind.page(this.account, { ...filter, page: `${page}`, limit: `${limit}` });
  }

  /** The page that a list must return. */
  expected(filter: Filter<R> = {}, { page, limit }: PageRequest = firstPage): Page<R> {
    const matching = [...this.rows.values()]
      .filter((row) => Object.entries(filter).every(([name, value]) => Reflect.get(row, name) === value))
      .sort((a, b) => (a.id < b.id ? 1 : -1));
    return {
      data: matching.slice((page - 1) * limit, page * limit),
      pagination: { page, limit, total: matching.length },
    };
  }

  #write(id: string, after: R | undefined, padding = 0, time = this.now): void {
    const { account } = this;
    const known = this.rows.get(id);
    const before = known && this.#kind.item(account, known);
    const padded = padding > 0 && { padding: "x".repeat(padding) };
    const item = after && { ...this.#kind.item(account, after), ...padded };
    if (item) this.table.memory.put(item);
    else if (before) this.table.memory.delete(before);
    if (after) this.rows.set(id, after);
    else this.rows.delete(id);
    const counted = countedChanges([streamRecord(before, item, time)]);
    for (const { rows } of counted)
      this.changes.push(...rows.map((row) => ({ ...row, sequenceNumber: row.key })));
  }
}

const leads: Kind<Lead> = {
  list: countedLists.lead,
  row: (id, createdAt) => ({
    ...{ id, name: "x", score: 0, status: "new", tags: [] },
    ...{ createdAt, updatedAt: createdAt },
  }),
  item: leadItem,
  page: listLeads,
};

/** The lead of all conversations. */
export const leadId = "lead_01KDVDKFD0CDDZ6WV8KSBHWN8P";

const conversations: Kind<Conversation> = {
  list: countedLists.conversation,
  row: (id, lastMessageAt) => startedConversation(id, { leadId, lastMessageAt }),
  item: conversationItem,
  page: listConversations,
};

/** An account's leads. */
export class LeadHistory extends History<Lead> {
  constructor() {
    super(leads);
  }
}

/** An account with leads that were counted a while ago. @param input the fields of each lead, which is old by default */
export async function countedLeads(count: number, input: Input<Lead> = {}, limits?: Limits) {
  const history = new LeadHistory();
  history.addMany(count, { age: 60_000, ...input });
  await history.deliver(limits);
  history.advance(100_000);
  return history;
}

/** An account's conversations, all of one lead. */
export class ConversationHistory extends History<Conversation> {
  constructor() {
    super(conversations);
  }
}
