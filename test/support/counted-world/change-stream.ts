import type { DynamoDBRecord } from "aws-lambda";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import type { Actor } from "../interleaving.ts";
import { streamRecord } from "../stream-record.ts";

/** A change of the table that no maintainer has finished counting. */
export interface StreamChange {
  readonly key: string;
  readonly kind: "created" | "backdated" | "deleted" | "changed";
  readonly record: DynamoDBRecord;
}

/** The stream of a world's table: it delivers changes in any order, and some twice. */
export class ChangeStream {
  /** Changes that were not delivered yet, or must be delivered again after a crash. */
  readonly pending: StreamChange[] = [];
  readonly #delivered: StreamChange[] = [];
  readonly #underWay = new Map<Actor, readonly StreamChange[]>();

  add(kind: StreamChange["kind"], before: Item | undefined, after: Item | undefined): StreamChange {
    const change = { key: String((after ?? before)?.sk), kind, record: streamRecord(before, after) };
    this.pending.push(change);
    return change;
  }

  /** Takes pending changes, in an order. */
  take(order: readonly number[]): StreamChange[] {
    return order.flatMap((index) => this.pending.splice(index % Math.max(1, this.pending.length), 1));
  }

  /** Changes that were delivered before. */
  repeat(indexes: readonly number[]): StreamChange[] {
    return indexes.flatMap((index) => this.#delivered.slice(index, index + 1));
  }

  start(maintainer: Actor, batch: readonly StreamChange[]): void {
    if (!maintainer.done) this.#underWay.set(maintainer, batch);
  }

  /** Ends a delivery. @param unfinished the sequence numbers of the records that failed: the first one begins again */
  end(maintainer: Actor, batch: readonly StreamChange[], unfinished: readonly string[]): void {
    const failed = new Set(unfinished);
    const first = batch.findIndex(({ record }) => failed.has(record.dynamodb?.SequenceNumber ?? ""));
    this.#delivered.push(...batch.slice(0, first < 0 ? undefined : first));
    this.pending.push(...(first < 0 ? [] : batch.slice(first)));
    this.#underWay.delete(maintainer);
  }

  /** Chooses a maintainer that works on a batch, which has to be delivered again. */
  interrupt(index: number): Actor | undefined {
    const [maintainer, batch = []] = [...this.#underWay][index % Math.max(1, this.#underWay.size)] ?? [];
    if (!maintainer) return undefined;
    this.#underWay.delete(maintainer);
    this.pending.push(...batch);
    return maintainer;
  }

  /** The rows with changes that are not counted yet. */
  open() {
    const changes = [...this.pending, ...[...this.#underWay.values()].flat()];
    const keys = (some: readonly StreamChange[]) => new Set(some.map(({ key }) => key));
    const late = changes.filter(({ kind }) => kind === "backdated");
    return { changed: keys(changes), created: keys(late) };
  }

  /** By how many rows an unfiltered total may be off. */
  slack() {
    const open = [...this.pending, ...[...this.#underWay.values()].flat()];
    const count = (kind: StreamChange["kind"]) => open.filter((change) => change.kind === kind).length;
    return { backdated: count("backdated"), deleted: count("deleted") };
  }
}
