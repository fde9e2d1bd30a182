import { nodeName, nodePrefix } from "../../../shared/dynamodb/keys.ts";
import { type Cells, equalCells, noCells } from "../../../shared/pages/tree/cells.ts";
import type { CountedOwner, CountedRow } from "../../../shared/pages/tree/counted-list.ts";
import { decodeEntries, type Entry, sumEntry } from "../../../shared/pages/tree/entry.ts";
import type { Root } from "../../../shared/pages/tree/root.ts";
import { cellNumber } from "../../../shared/pages/tree/statuses.ts";
import { readRoot } from "../../../shared/pages/tree/tree-store.ts";
import type { Pace } from "../common/pace.ts";
import { readTreeItems } from "./tree-items.ts";

/** A range of a list whose counts are wrong. */
export interface Difference {
  /** 0 for a leaf, or a row of a sublist, that differs from the rows of the table; n for a node of level n that differs from the entry above it. */
  readonly level: number;
  /** The first sort key of the range. */
  readonly start: string;
  /** The sort key at which the range ends, exclusive. */
  readonly end: string;
  /** The counted and the actual number of rows with a status. */
  readonly cells: readonly {
    readonly status: string;
    readonly counted: number;
    readonly actual: number;
  }[];
}

/** What two differences have in common if they are the same. */
export const identity = (difference: Difference) => JSON.stringify(difference);

/** A tree as it was read. */
interface Tree {
  readonly owner: CountedOwner;
  readonly root: Root;
  /** Its nodes by name. They are decoded one by one: the rows of all sublists take ten times as much memory. */
  readonly nodes: ReadonlyMap<string, Uint8Array>;
}

/** Reads a whole tree. A query may show half a commit: then nodes differ from the entries above them, until it is read again. */
export async function readTree(owner: CountedOwner, pace: Pace): Promise<Tree | undefined> {
  const root = await pace.retry(() => readRoot(owner));
  await pace.spend(1);
  if (!root) return undefined;
  const nodes = new Map<string, Uint8Array>();
  const prefix = `${nodePrefix}${root.generation}#`;
  if (root.level > 0)
    for await (const items of readTreeItems(owner, prefix, pace))
      for (const { sk, entries } of items) nodes.set(String(sk), entries as Uint8Array);
  return { owner, root, nodes };
}

/** A leaf, or a row of a sublist, with the whole range that it counts. */
interface Range extends Entry {
  readonly end: string;
}

/** Compares a tree with the rows that it should count, which come in the order of their sort keys. */
export class TreeComparison {
  readonly #tree: Tree;
  readonly #only: ReadonlySet<string> | undefined;
  readonly #differences: Difference[] = [];
  readonly #ranges: Iterator<Range, undefined>;
  /** The range of the next rows, and the cells of those that came. */
  #range: Range | undefined;
  #actual = new Map<number, number>();
  #last = "";

  /** @param only the identities of the differences to report; without them, all */
  constructor(tree: Tree, only: ReadonlySet<string> | undefined) {
    this.#tree = tree;
    this.#only = only;
    this.#ranges = this.#walkTree();
    this.#range = this.#ranges.next().value;
  }

  /** Counts a row. Rows of the tail are not in the tree. */
  add({ sk, status }: CountedRow): void {
    const { owner, root } = this.#tree;
    // The first row of a part of a list may come with the part before, too.
    if (sk <= this.#last || sk >= root.watermark) return;
    this.#last = sk;
    while (this.#range && this.#range.end <= sk) this.#endRange(this.#range);
    const cell = cellNumber(root.statuses, status);
    if (this.#range && this.#range.start <= sk) this.#actual.set(cell, (this.#actual.get(cell) ?? 0) + 1);
    // In a whole list, only the rows of a missing node have no leaf.
    else if (owner.sublist) this.#compare(0, toRowRange({ start: sk, cells: noCells }), new Map([[cell, 1]]));
  }

  /** Compares what is left when all rows have come. @returns all differences */
  end(): readonly Difference[] {
    while (this.#range) this.#endRange(this.#range);
    return this.#differences;
  }

  #endRange(range: Range): void {
    // Lists do not use the tree while a leaf is pending, which means that it must still be counted.
    if (!this.#tree.root.pending.includes(range.start)) this.#compare(0, range, this.#actual);
    this.#actual = new Map();
    this.#range = this.#ranges.next().value;
  }

  /** The ranges of all leaves, or of all rows of a sublist, in order; compares the nodes on the way. */
  *#walkTree(): Generator<Range, undefined> {
    const { level, entries, last, watermark } = this.#tree.root;
    yield* this.#walk(level, entries, "", last.start);
    yield* this.#walk(0, [last], last.start, watermark);
  }

  *#walk(level: number, entries: readonly Entry[], from: string, to: string): Generator<Range, undefined> {
    const { owner, root, nodes } = this.#tree;
    for (const [index, { start, cells }] of entries.entries()) {
      const range = { start: index === 0 ? from : start, end: entries[index + 1]?.start ?? to, cells };
      if (level === 0) yield owner.sublist ? toRowRange({ start, cells }) : range;
      else {
        const node = nodes.get(nodeName(root.generation, level, start));
        const below = node && decodeEntries(node);
        this.#compare(level, range, below && sumEntry(below).cells);
        yield* this.#walk(level - 1, below ?? [], range.start, range.end);
      }
    }
  }

  /** Reports a range whose cells differ, or whose node is missing. */
  #compare(level: number, { start, end, cells }: Range, actual: Cells | undefined): void {
    const counted = cells;
    if (actual && equalCells(counted, actual)) return;
    const numbers = [...new Set([...counted.keys(), ...(actual?.keys() ?? [])])].sort((a, b) => a - b);
    const all = numbers.map((cell) => ({
      // A status has the cell of its place among the names.
      status: this.#tree.root.statuses.names[cell] ?? "(other)",
      counted: counted.get(cell) ?? 0,
      actual: actual?.get(cell) ?? 0,
    }));
    const difference = { level, start, end, cells: all.filter(({ counted, actual }) => counted !== actual) };
    if (!this.#only || this.#only.has(identity(difference))) this.#differences.push(difference);
  }
}

/** The range of a row: no sort key lies between one and the same with a "!" after it. */
const toRowRange = (row: Entry): Range => ({ ...row, end: `${row.start}!` });
