import { DeleteCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { accountPartition, nodePrefix } from "../../../shared/dynamodb/keys.ts";
import { type Item, tableName } from "../../../shared/dynamodb/table-client.ts";
import type { CountedOwner } from "../../../shared/pages/tree/counted-list.ts";
import { treeKey } from "../../../shared/pages/tree/tree-store.ts";
import type { Write } from "../records.ts";
import { account, changeRow, createRow, owner, rowNumber } from "../rows.ts";
import {
  type DamageEvent,
  type Event,
  landsWithin,
  type Scenario,
  sourceOf,
  startTime,
  type WriteEvent,
} from "../scenario.ts";
import { findItem } from "../tree-check.ts";
import type { Slack } from "./reading.ts";

/** The events of a scenario. Sets of events are bits of their numbers. */
export class Events {
  readonly #scenario: Scenario;
  readonly #sequences: readonly (readonly Event[])[];
  readonly #all: readonly Event[];

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.#sequences = scenario.events;
    this.#all = this.#sequences.flat();
  }

  /**
   * The events that may come next: the first event of each sequence that has not happened, with its number among all events,
   * and how many events of each sequence have happened then.
   */
  next(happened: readonly number[]) {
    return this.#sequences.flatMap((sequence, i) => {
      const at = happened[i] ?? 0;
      const event = sequence[at];
      const number = this.#sequences.slice(0, i).flat().length + at;
      return event ? [{ event, number, happened: happened.with(i, at + 1) }] : [];
    });
  }

  /** Whether an event that writes a row has not happened yet. */
  writesFollow = (happened: readonly number[]) => this.#rest(happened).some((event) => "row" in event);

  /** Whether the write of a route must land before a time. */
  landsBefore = (happened: readonly number[], time: number) =>
    this.#rest(happened).some((event) => event.do === "create" && startTime + event.at + landsWithin < time);

  /** The write of an event; undefined while the event cannot happen. */
  write(event: WriteEvent, clock: number, rows: readonly Item[]): Write | undefined {
    if ("at" in event) {
      const createdAt = startTime + event.at;
      const after = createRow(event.row, createdAt, sourceOf(this.#scenario, event.row));
      return clock < createdAt ? undefined : { before: undefined, after };
    }
    const before = rows.find(({ id }) => rowNumber(String(id)) === event.row);
    if (!before) return undefined;
    if (event.do === "delete") return { before, after: undefined };
    const { status, source } = { status: undefined, source: undefined, ...event };
    return { before, after: changeRow(before, { ...(status && { status }), ...(source && { source }) }) };
  }

  /** By how many rows the unfiltered total may be off while a set of events has not been counted. */
  slack(open: number): Slack {
    const count = (...kinds: readonly Event["do"][]) =>
      this.#in(open).filter((event) => kinds.includes(event.do)).length;
    return { imported: count("import"), deleted: count("delete") };
  }

  /** The rows of a set of events. */
  rows = (set: number) => new Set(this.#in(set).flatMap((event) => ("row" in event ? event.row : [])));

  #in = (set: number) => this.#all.filter((_, number) => set & (1 << number));

  #rest = (happened: readonly number[]) =>
    this.#sequences.flatMap((sequence, i) => sequence.slice(happened[i]));
}

/** The command of a write. */
export function toCommand({ before, after }: Write): PutCommand | DeleteCommand {
  if (after) return new PutCommand({ TableName: tableName, Item: after });
  const { pk, sk } = before ?? {};
  return new DeleteCommand({ TableName: tableName, Key: { pk, sk } });
}

/** The command that deletes the root or the oldest node of a tree's last generation; undefined if there is none. */
export function damage(items: readonly Item[], { what, source }: DamageEvent) {
  const labelKey = source === undefined ? undefined : accountPartition(owner.list.type, account, source);
  const tree: CountedOwner = { ...owner, ...(labelKey !== undefined && { labelKey }) };
  const root = findItem(items, tree, "root");
  const { pk, sk } = treeKey(tree, `${nodePrefix}${root?.generation}#`);
  const item = what === "root" ? root : items.find((it) => it.pk === pk && String(it.sk).startsWith(sk));
  return item && toCommand({ before: item, after: undefined });
}
