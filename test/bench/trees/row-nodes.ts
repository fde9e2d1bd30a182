import { type Entry, encodedBytes, separator } from "../../../shared/pages/tree/entry.ts";
import type { Limits } from "../../../shared/pages/tree/tree-limits.ts";
import type { Node } from "../../../shared/pages/tree/tree-store.ts";
import { countCells } from "./build-tree.ts";
import { charactersOfKey, type SyntheticRows, sharedCharacters } from "./rows.ts";

/**
 * The lowest nodes of a sublist's tree, whose entries are rows. They are too many for memory: only the first row of each
 * is kept, and its entries are computed.
 */
export class RowNodes {
  readonly #rows: SyntheticRows;
  /** The index of the first row of each node, and the number of rows. */
  readonly #firsts: readonly number[];

  constructor(rows: SyntheticRows, limits: Limits) {
    this.#rows = rows;
    this.#firsts = [...cutRows(rows, limits), rows.size];
  }

  get size(): number {
    return this.#firsts.length - 1;
  }

  /** The entry for a node, one level up. */
  sum(node: number): Entry {
    const [from, to] = this.#range(node);
    const start = node === 0 ? this.#rows.key(0) : separator(this.#rows.key(from - 1), this.#rows.key(from));
    return { start, cells: countCells(this.#rows, from, to) };
  }

  *sums(): Iterable<Entry> {
    for (let node = 0; node < this.size; node++) yield this.sum(node);
  }

  /** The node with a start; undefined when there is none. */
  find(start: string): Node | undefined {
    const first = this.#rows.firstAt(start);
    let low = 0;
    for (let high = this.size; low < high; ) {
      const middle = (low + high) >>> 1;
      if ((this.#firsts[middle] as number) >= first) high = middle;
      else low = middle + 1;
    }
    return low < this.size && this.sum(low).start === start ? this.#node(low) : undefined;
  }

  /** Some of the nodes, with the last one. */
  sample(count: number): readonly Node[] {
    const some = Array.from({ length: count }, (_, i) => Math.floor((i * this.size) / count));
    return [...new Set([...some, this.size - 1])].map((node) => this.#node(node));
  }

  #node(node: number): Node {
    const [from, to] = this.#range(node);
    const entries = Array.from({ length: to - from }, (_, i) => toEntry(this.#rows, from + i));
    return { level: 1, start: this.sum(node).start, entries };
  }

  #range(node: number): readonly [number, number] {
    return [this.#firsts[node] as number, this.#firsts[node + 1] as number];
  }
}

const toEntry = (rows: SyntheticRows, index: number): Entry => ({
  start: rows.key(index),
  cells: new Map([[rows.cell(index), 1]]),
});

/**
 * The first row of each node that the maintainer cuts when it appends rows: a node keeps `keptBytes`, and the last one
 * grows to `nodeBytes`. All keys have the same length, so an entry's bytes follow from what its key shares.
 */
function cutRows(rows: SyntheticRows, { keptBytes, nodeBytes }: Limits): readonly number[] {
  const alone = encodedBytes(toEntry(rows, 0));
  if (alone !== 2 + charactersOfKey + 3) throw new Error("The encoding of a row has changed.");
  const firsts = [0];
  let bytes = alone;
  let before = 0;
  let place = rows.place(0);
  for (let index = 1; index < rows.size; index++) {
    const next = rows.place(index);
    const more = alone - sharedCharacters(place, next);
    place = next;
    if (bytes + more <= keptBytes) {
      bytes += more;
      continue;
    }
    firsts.push(index);
    before = bytes + more;
    bytes = alone;
  }
  // The entry that begins the last node would be shorter in the node before.
  if (firsts.length > 1 && before + bytes - alone <= nodeBytes) firsts.pop();
  return firsts;
}
