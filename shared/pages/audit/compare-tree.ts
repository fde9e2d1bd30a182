import { withRetry } from "../../dynamodb/retry.ts";
import { maxBatchKeys } from "../../dynamodb/table-client.ts";
import type { CountedOwner } from "../tree/counted-list.ts";
import type { Root } from "../tree/root.ts";
import { type CountedRow, readStates } from "../tree/rows.ts";
import { DamagedTreeError, isTreeChanged } from "../tree/tree-store.ts";
import { countedBefore, type Pace, readTreePart, type TreeRow } from "./tree-part.ts";

/** A row that a tree counts otherwise than it is in the table, by the cells; undefined for none. */
export interface Difference {
  readonly sk: string;
  readonly counted: number | undefined;
  readonly actual: number | undefined;
}

/** The differing rows of a tree that are collected: with more, it is better to count the tree again. */
const mostDifferences = 10_000;

/** How long a part of a tree is read again while commits come first, in milliseconds. */
const partTimeout = 60_000;

const readPart = (owner: CountedOwner, start: string, until: string | undefined, pace: Pace) =>
  withRetry(() => readTreePart(owner, start, until, pace), {
    deadline: Date.now() + partTimeout,
    isRetryable: isTreeChanged,
  });

/** Compares a tree with its rows in the table, which come page by page. */
export class TreeComparison {
  readonly owner: CountedOwner;
  readonly differences: Difference[] = [];
  /** Why the tree must be counted again: it is damaged, or too many rows differ. */
  damage: DamagedTreeError | undefined;
  readonly #fed: string;
  readonly #pace: Pace;
  /** The rows of the tree that were read and come after the rows of the table. */
  #ahead: readonly TreeRow[] = [];
  /** Where the next part of the tree begins; undefined after the last one. */
  #next: string | undefined = "";
  /** As it was read with the last part. */
  #root: Root | undefined;

  /** @param fed that of the list */
  constructor(owner: CountedOwner, fed: string, pace: Pace) {
    this.owner = owner;
    this.#fed = fed;
    this.#pace = pace;
  }

  /** Whether there is no tree. */
  get isMissing(): boolean {
    return this.#root === undefined && this.#next === undefined;
  }

  /** Compares all rows before a sort key that were not compared yet; without it, the last ones. */
  async compare(rows: readonly CountedRow[], until: string | undefined): Promise<void> {
    if (this.damage) return;
    try {
      const counted = await this.#take(until);
      const before = countedBefore(this.owner, this.#root, this.#fed);
      const actual = new Map(rows.filter(({ sk }) => sk < before).map(({ sk, cell }) => [sk, cell]));
      this.#add(differences(counted, actual));
    } catch (error) {
      if (!(error instanceof DamagedTreeError)) throw error;
      this.damage = error;
    }
  }

  /** The rows of the tree before a sort key that were not taken yet. */
  async #take(until: string | undefined): Promise<readonly TreeRow[]> {
    const isBefore = ({ sk }: TreeRow) => until === undefined || sk < until;
    while (this.#next !== undefined && (until === undefined || this.#next < until)) {
      const { root, rows, end } = await readPart(this.owner, this.#next, until, this.#pace);
      this.#ahead = [...this.#ahead, ...rows];
      this.#next = end;
      this.#root = root;
    }
    const taken = this.#ahead.filter(isBefore);
    this.#ahead = this.#ahead.slice(taken.length);
    return taken;
  }

  #add(found: readonly Difference[]): void {
    this.differences.push(...found);
    if (this.differences.length > mostDifferences)
      this.damage = new DamagedTreeError(`More than ${mostDifferences} rows differ.`, this.#root);
  }
}

/** Compares the rows with these sort keys, as far as a tree must have them. @throws DamagedTreeError */
export async function compareRows(
  owner: CountedOwner,
  sks: readonly string[],
  fed: string,
  pace: Pace,
): Promise<Difference[]> {
  const found: Difference[] = [];
  for (let rest = [...new Set(sks)].sort(); rest.length > 0; ) {
    const first = String(rest[0]);
    const { root, rows, end } = await readPart(owner, first, `${first}!`, pace);
    const before = countedBefore(owner, root, fed);
    const some = rest.filter((sk) => end === undefined || sk < end).slice(0, maxBatchKeys);
    const states = await readStates(owner, some, pace.retry);
    await pace.spend(some.length);
    const isIn = ({ origin }: CountedRow) => owner.origin === undefined || origin === owner.origin;
    const actual = [...states.values()].flatMap((row) =>
      isIn(row) && row.sk < before ? [[row.sk, row.cell] as const] : [],
    );
    const keys = new Set(some);
    found.push(
      ...differences(
        rows.filter(({ sk }) => keys.has(sk)),
        new Map(actual),
      ),
    );
    rest = rest.slice(some.length);
  }
  return found;
}

function differences(counted: readonly TreeRow[], actual: Map<string, number>): Difference[] {
  const found: Difference[] = [];
  for (const { sk, cell } of counted) {
    if (actual.get(sk) !== cell) found.push({ sk, counted: cell, actual: actual.get(sk) });
    actual.delete(sk);
  }
  for (const [sk, cell] of actual) found.push({ sk, counted: undefined, actual: cell });
  return found;
}
