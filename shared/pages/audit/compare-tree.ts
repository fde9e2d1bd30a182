import type { Pace } from "../../dynamodb/pace.ts";
import { withRetry } from "../../dynamodb/retry.ts";
import { settledAll } from "../../in-parallel.ts";
import { type CountedOwner, latest } from "../tree/counted-list.ts";
import { indexAt, type Place, placeAt, rowBucket } from "../tree/entry.ts";
import type { Root } from "../tree/root.ts";
import type { CountedRow } from "../tree/rows.ts";
import { DamagedTreeError, isTreeChanged, readNode, readRoot } from "../tree/tree-store.ts";

/** A row that a tree counts otherwise than it is in the table, by the buckets; undefined for none. */
export interface Difference {
  readonly sk: string;
  readonly counted: number | undefined;
  readonly actual: number | undefined;
}

/** What is wrong with a tree. */
export interface Finding {
  readonly owner: CountedOwner;
  readonly differences: readonly Difference[];
  /** Why the tree must be counted again. */
  readonly damage: DamagedTreeError | undefined;
}

/** How long a part of a tree is read again while commits come first, in milliseconds. */
const partTimeout = 60_000;

/** A tree that is compared with rows of the table, which are added in their order, and what was found so far. */
export class ComparedTree implements Finding {
  readonly owner: CountedOwner;
  readonly differences: Difference[] = [];
  damage: DamagedTreeError | undefined;
  /** Whether there must be a root. */
  needsRoot = false;
  /** The rows that were added and not compared yet. */
  rows: CountedRow[] = [];
  /** Where the rows begin that were not compared yet. */
  #start: string;
  /** That of the list. */
  readonly #fed: string;
  readonly #pace: Pace;

  constructor(owner: CountedOwner, start: string, fed: string, pace: Pace) {
    this.owner = owner;
    this.#start = start;
    this.#fed = fed;
    this.#pace = pace;
  }

  /** Compares the rows that were added with all that the tree counts before a sort key, or to the end. */
  async compareUntil(until: string | undefined): Promise<void> {
    try {
      for (let start: string | undefined = this.#start; start !== undefined && !this.damage; )
        start = await this.#comparePart(start, until);
    } catch (error) {
      if (!(error instanceof DamagedTreeError)) throw error;
      this.damage = error;
    }
    this.#start = until ?? this.#start;
    this.rows = [];
  }

  /** Compares the first rows of a range. @returns where the others begin; undefined if there are none */
  async #comparePart(start: string, until: string | undefined): Promise<string | undefined> {
    const part = await withRetry(() => this.#readPart(start, until), {
      deadline: Date.now() + partTimeout,
      isRetryable: isTreeChanged,
    });
    const { root, rows: counted, end } = part;
    if (!root && this.needsRoot) throw new DamagedTreeError(this.owner, "The root is missing.");
    // A label has all rows before `fed`, too, except those whose change is on its way.
    const before = latest(root?.watermark ?? "", this.owner.labelKey === undefined ? "" : this.#fed);
    const isInPart = ({ sk }: CountedRow) => sk >= start && (end === undefined || sk < end);
    const settled = this.rows.filter((row) => isInPart(row) && row.sk < before);
    const actual = new Map(settled.map(({ sk, bucket }) => [sk, bucket]));
    for (const sk of new Set([...counted.keys(), ...actual.keys()])) {
      const difference = { sk, counted: counted.get(sk), actual: actual.get(sk) };
      if (difference.counted !== difference.actual) this.differences.push(difference);
    }
    return end;
  }

  /**
   * Reads the first rows that the tree counts in a range: those of the nodes under one parent. All that is read is
   * consistent with one root.
   *
   * @returns the root, undefined without a tree; the buckets of the rows, by their sort keys; and where the rest of the range
   *   begins, undefined if nothing is left
   * @throws DamagedTreeError when a node is missing, or is not what the root says
   * @throws TreeChangedError when that is so because a commit came first
   */
  async #readPart(start: string, until: string | undefined) {
    const root = await this.#pace.retry(() => readRoot(this.owner));
    await this.#pace.spend(1);
    const isBefore = (sk: string) => until === undefined || sk < until;
    const isInNodes = root !== undefined && root.entries.length > 0 && start < root.lastStart;
    const { entries, end } = isInNodes
      ? await this.#readNodes(root, start, isBefore)
      : { entries: root?.last ?? [], end: undefined };
    const within = entries.filter(({ start: sk }) => sk >= start && isBefore(sk));
    const rows = new Map(within.map((entry) => [entry.start, rowBucket(entry)]));
    return { root, rows, end: end !== undefined && isBefore(end) ? end : undefined };
  }

  /** Reads the nodes of rows of a range, those under one parent. @returns their entries, and where these end */
  async #readNodes(root: Root, start: string, isBefore: (sk: string) => boolean) {
    const read = (level: number, place: Place) => readNode(this.owner, root, level, place, this.#pace.retry);
    let { entries, lastStart: end } = root;
    for (let level = root.level; level > 1; level--) {
      const place = placeAt(entries, indexAt(entries, start), end);
      end = place.end;
      entries = await read(level, place);
      await this.#pace.spend(1);
    }
    const places = entries.map((_, index) => placeAt(entries, index, end));
    const needed = places.slice(indexAt(entries, start)).filter(({ entry }) => isBefore(entry.start));
    const nodes = await settledAll(needed.map((place) => read(1, place)));
    await this.#pace.spend(nodes.length);
    return { entries: nodes.flat(), end: needed.at(-1)?.end ?? end };
  }
}
