import { randomUUID } from "node:crypto";
import { DeleteCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { ulid } from "ulid";
import { isBusy } from "../../shared/dynamodb/dynamodb-errors.ts";
import { itemTypes, rowKey, sublistPrefix } from "../../shared/dynamodb/keys.ts";
import { type Item, tableName } from "../../shared/dynamodb/table-client.ts";
import { countedChanges } from "../../shared/pages/maintain/changes.ts";
import { maintainLists, type Unsettled } from "../../shared/pages/maintain/maintain-lists.ts";
import type { Limits } from "../../shared/pages/tree/tree-limits.ts";
import { isTreeChanged } from "../../shared/pages/tree/tree-store.ts";
import { ChangeStream, type StreamChange } from "./counted-world/change-stream.ts";
import { type Bounds, ExpectedRows, isListed } from "./counted-world/expected-rows.ts";
import { LaggingTable } from "./counted-world/lagging-table.ts";
import type { ListedRow, ListFilter, RowKind } from "./counted-world/row-kind.ts";
import { type Slack, Watches } from "./counted-world/watches.ts";
import { type Actor, Interleaving } from "./interleaving.ts";

/** How long after its id was created a route's write may land, in milliseconds. */
const landsWithin = 2500;

/** An account's rows in a table, the same rows in memory, and the actors that work on them concurrently. */
export class CountedWorld {
  readonly table = new LaggingTable(() => this.io.now);
  readonly io = new Interleaving(Date.UTC(2026, 0, 1), this.table.send);
  readonly account = randomUUID();
  readonly expected = new ExpectedRows();
  readonly stream = new ChangeStream();
  readonly watches = new Watches();
  readonly kind: RowKind;
  readonly owner;
  /** Whether a route's write has landed since the last `look`. */
  landed = false;
  /** Whether a tree may be damaged. */
  isDamaged = false;
  readonly limits: Limits;
  readonly #unsettled: Unsettled = new Map();
  readonly #creates = new Map<Actor, number>();

  constructor(kind: RowKind, limits: Limits) {
    this.kind = kind;
    this.owner = { account: this.account, list: kind.list };
    this.limits = limits;
    this.io.beforeAdvance = async (to) => {
      for (const [actor, landBy] of this.#creates) if (landBy < to) await this.io.finish(actor);
    };
  }

  /** A route creates a row. The write lands when its gate opens, at the latest after `landsWithin`. */
  async create(origin?: string, parent?: string): Promise<void> {
    const row = this.#newRow(this.io.now, { origin, parent });
    const actor = await this.io.start("create", async (self) => {
      await this.io.pause();
      await this.#write("created", row.id, row);
      this.#creates.delete(self);
      this.landed = true;
    });
    this.#creates.set(actor, this.io.now + landsWithin);
  }

  /** Routes create several rows, whose writes land at once. */
  async createMany(count: number, origin?: string, parent?: string): Promise<void> {
    for (let i = 0; i < count; i++) {
      const row = this.#newRow(this.io.now, { origin, parent });
      await this.#write("created", row.id, row);
    }
    this.landed = true;
  }

  /** An operator's import writes a row with an earlier creation time. */
  async backdate(age: number, origin?: string, parent?: string): Promise<void> {
    const row = this.#newRow(this.io.now - age, { origin, parent });
    await this.#write("backdated", row.id, row);
  }

  /** An operator changes the status of a row, its source or channel, or both. */
  async change(
    at: number,
    to: { readonly status?: string; readonly origin?: string | undefined },
  ): Promise<void> {
    const row = this.expected.at(at);
    if (row && !isListed(row, to)) await this.#write("changed", row.id, { ...row, ...to });
  }

  async delete(at: number): Promise<void> {
    const row = this.expected.at(at);
    if (row) await this.#write("deleted", row.id, undefined);
  }

  /** The stream delivers some changes, in any order, and repeats some that were delivered before. */
  async deliver(order: readonly number[], again: readonly number[] = [], skew = 0): Promise<Actor> {
    const batch = this.stream.take(order);
    const records = [...batch, ...this.stream.repeat(again)].map(({ record }) => record);
    const run = async (self: Actor) => {
      const means = { limits: this.limits, wait: this.io.wait, unsettled: this.#unsettled };
      const [unfinished] = await maintainLists(countedChanges(records), {
        deadline: Number.POSITIVE_INFINITY,
        ...means,
      });
      this.stream.end(self, batch, unfinished?.sequenceNumbers ?? []);
      const { error } = unfinished ?? {};
      // Other commits may have come first until its time was up.
      if (error && !isTreeChanged(error) && !isBusy(error)) throw error;
    };
    const maintainer = await this.io.start("maintainer", run, skew);
    this.stream.start(maintainer, batch);
    return maintainer;
  }

  /** A maintainer ends between two calls. */
  crashMaintainer(index: number): void {
    const maintainer = this.stream.interrupt(index);
    if (maintainer) this.io.crash(maintainer);
  }

  /** A node or a root of a tree disappears, or a node loses its entries. */
  async damage(index: number, how: "delete" | "spoil"): Promise<void> {
    // A root that is made again in the same second could repeat versions: no commit is that fast.
    const isOld = ({ generation = 0 }: Item) => Number(generation) < this.io.now - 10_000;
    const isNode = (item: Item) =>
      String(item.pk).startsWith(`${itemTypes.count}#`) &&
      !String(item.sk).startsWith(sublistPrefix) &&
      isOld(item);
    const nodes = [...this.table.memory.items()].filter(isNode);
    const node = nodes[index % Math.max(1, nodes.length)];
    if (!node) return;
    this.isDamaged = true;
    const Key = { pk: node.pk, sk: node.sk };
    const spoils = how === "spoil" && node.sk !== "root";
    await this.io.direct(
      spoils
        ? new PutCommand({ TableName: tableName, Item: { ...Key, entries: new Uint8Array() } })
        : new DeleteCommand({ TableName: tableName, Key }),
    );
  }

  /** What a list may have now. */
  bounds(filter: ListFilter): Bounds {
    const longestLag = Math.max(0, ...this.table.lags);
    return this.expected.bounds(filter, this.io.now, longestLag, this.stream.open());
  }

  /** By how many rows an unfiltered total may be off, for changes that are not counted yet. */
  slack(): Slack {
    return this.stream.slack();
  }

  /** The page that a list must return. */
  response(filter: ListFilter, page: number, limit: number) {
    const rows = this.expected.matching(filter);
    const data = rows.slice((page - 1) * limit, page * limit).map((row) => this.kind.toRecord(row));
    return { data, pagination: { page, limit, total: rows.length } };
  }

  #newRow(at: number, row: Omit<ListedRow, "id" | "status">): ListedRow {
    const id = `${this.kind.list.idPrefix}${ulid(at, Math.random)}`;
    return { id, status: this.kind.statuses[0], ...row };
  }

  /** Writes a row, or deletes it, and queues the change for the stream. */
  async #write(kind: StreamChange["kind"], id: string, row: ListedRow | undefined): Promise<void> {
    const toItem = (some: ListedRow | undefined) => some && this.kind.toItem(this.account, some);
    const before = toItem(this.expected.rows.get(id));
    const Item = toItem(row);
    const Key = rowKey(this.kind.list.type, this.account, id);
    await this.io.direct(
      Item
        ? new PutCommand({ TableName: tableName, Item })
        : new DeleteCommand({ TableName: tableName, Key }),
    );
    this.expected.set(id, row, this.io.now);
    this.stream.add(kind, before, Item);
    this.watches.note(id, row, this.slack());
  }
}
