import { DeleteCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { accountPartition, nodePrefix } from "../../../shared/dynamodb/keys.ts";
import { type Item, tableName } from "../../../shared/dynamodb/table-client.ts";
import { countedChanges, type RowChange } from "../../../shared/pages/maintain/changes.ts";
import type { CountedOwner } from "../../../shared/pages/tree/counted-list.ts";
import { treeKey } from "../../../shared/pages/tree/tree-store.ts";
import type { Change } from "../../support/memory-table/stored-items.ts";
import { streamRecord } from "../../support/tables/stream-record.ts";
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
import { toText } from "../texts.ts";
import { findItem } from "../tree-check.ts";

/** The events of a scenario. Sets of events are bits of their numbers. */
export function eventsOf(scenario: Scenario) {
  const { events: sequences } = scenario;
  const all = sequences.flat();
  const inSet = (set: number) => all.filter((_, number) => set & (1 << number));
  const restAfter = (happened: readonly number[]) =>
    sequences.flatMap((sequence, i) => sequence.slice(happened[i]));

  return {
    /**
     * The events that may come next: the first event of each sequence that has not happened, with its number among all
     * events, and how many events of each sequence have happened then.
     */
    next: (happened: readonly number[]) =>
      sequences.flatMap((sequence, i) => {
        const at = happened[i] ?? 0;
        const event = sequence[at];
        const number = sequences.slice(0, i).flat().length + at;
        return event ? [{ event, number, happened: happened.with(i, at + 1) }] : [];
      }),

    /** Whether the write of a route must land before a time. */
    landsBefore: (happened: readonly number[], time: number) =>
      restAfter(happened).some((event) => event.do === "create" && startTime + event.at + landsWithin < time),

    /** The write of an event; undefined while the event cannot happen. */
    write(event: WriteEvent, clock: number, rows: readonly Item[]): Change | undefined {
      if ("at" in event) {
        const createdAt = startTime + event.at;
        const after = createRow(event.row, createdAt, sourceOf(scenario, event.row));
        return clock < createdAt ? undefined : { before: undefined, after };
      }
      const before = rows.find(({ id }) => rowNumber(String(id)) === event.row);
      if (!before) return undefined;
      if (event.do === "delete") return { before, after: undefined };
      const { do: _, row, ...changed } = event;
      return { before, after: changeRow(before, changed) };
    },

    /** The rows of a set of events, or of those of some kinds. */
    rows: (set: number, kinds?: readonly Event["do"][]) =>
      new Set(
        inSet(set).flatMap((event) =>
          "row" in event && kinds?.includes(event.do) !== false ? event.row : [],
        ),
      ),
  };
}

/** The changes that the stream delivers. Equal changes have the same number. */
export class Records {
  readonly #changes: RowChange[] = [];
  readonly #numbers = new Map<string, number>();

  /** The record of a write at a time. @returns its number; undefined if the write changes no count */
  add({ before, after }: Change, clock: number): number | undefined {
    const { dynamodb } = streamRecord(before, after);
    const time = { ApproximateCreationDateTime: Math.floor(clock / 1000), SequenceNumber: "" };
    const [changes] = countedChanges([{ dynamodb: { ...dynamodb, ...time } }]);
    const [row] = changes?.rows ?? [];
    if (!row) return undefined;
    // The time of the write is left out, because the kind of the change already follows from it.
    const change = { ...row, writtenBefore: undefined };
    const text = toText(change);
    const number = this.#numbers.get(text) ?? this.#changes.push(change) - 1;
    this.#numbers.set(text, number);
    return number;
  }

  /** The changes of records, each with a sequence number of its own. */
  changes = (numbers: readonly number[]): RowChange[] =>
    numbers.flatMap((number, i) => {
      const change = this.#changes[number];
      return change ? { ...change, sequenceNumber: String(i) } : [];
    });
}

/** The command of a write. */
export function toCommand({ before, after }: Change): PutCommand | DeleteCommand {
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
