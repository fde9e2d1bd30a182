import type { Item } from "../../shared/dynamodb/table-client.ts";
import { countedChanges, type RowChange } from "../../shared/pages/maintain/changes.ts";
import { streamRecord } from "../support/tables/stream-record.ts";
import { toText } from "./texts.ts";

/** A change of a row. */
export interface Write {
  readonly before: Item | undefined;
  readonly after: Item | undefined;
}

/** The changes that the stream delivers. Equal changes have the same number. */
export class Records {
  readonly #changes: RowChange[] = [];
  readonly #numbers = new Map<string, number>();

  /** The record of a write at a time. @returns its number; undefined if the write changes no count */
  add({ before, after }: Write, clock: number): number | undefined {
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
