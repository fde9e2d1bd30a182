import { equalCells } from "../tree/cells.ts";
import { type Entry, encodedBytes, encodeEntries, sumEntry } from "../tree/entry.ts";
import { type Root, rootBytes } from "../tree/root.ts";
import type { Limits } from "../tree/tree-limits.ts";
import {
  type CountedOwner,
  commit,
  type Node,
  type RootName,
  readNode,
  TreeChangedError,
} from "../tree/tree-store.ts";

/** A leaf's place: the rows from `start` to before `end`. */
export interface LeafRange {
  readonly start: string;
  readonly end: string;
}

/** A tree being changed: the root as it will be, and those of its nodes that were read or made for it. */
export class TreeEdit {
  root: Root;
  readonly #owner: CountedOwner;
  readonly #limits: Limits;
  readonly #reads = new Map<string, Promise<void>>();
  readonly #nodes = new Map<string, Node>();
  readonly #changed = new Set<string>();
  readonly #parts = new WeakMap<readonly Entry[], readonly (readonly Entry[])[]>();

  constructor(owner: CountedOwner, root: Root, limits: Limits) {
    this.#owner = owner;
    this.root = root;
    this.#limits = limits;
  }

  /** The leaf that a sort key below the watermark belongs to; reads the nodes on the way to it. */
  async findLeaf(sk: string): Promise<LeafRange> {
    const { last, watermark, level } = this.root;
    if (sk >= last.start) return { start: last.start, end: watermark };
    let { entries } = this.root;
    let end = last.start;
    for (let below = level; ; below--) {
      const index = indexAt(entries, sk);
      const start = entryAt(entries, index).start;
      end = entries[index + 1]?.start ?? end;
      if (below === 0) return { start, end };
      entries = (await this.#read(below, start)).entries;
    }
  }

  /** Puts leaves in the place of one that was found, the first with its start. */
  async replaceLeaf(start: string, leaves: readonly Entry[]): Promise<void> {
    if (start >= this.root.last.start) {
      await this.append(leaves.slice(0, -1));
      this.root = { ...this.root, last: entryAt(leaves, leaves.length - 1) };
      return;
    }
    this.#change(1, start, (entries) => {
      const index = indexAt(entries, start);
      const [leaf, ...others] = leaves;
      const same = leaf && others.length === 0 && equalCells(leaf.cells, entryAt(entries, index).cells);
      return same ? entries : entries.toSpliced(index, 1, ...leaves);
    });
  }

  /** Puts leaves behind all but `last`; reads the nodes on the way there. */
  async append(leaves: readonly Entry[]): Promise<void> {
    if (leaves.length === 0) return;
    let { entries } = this.root;
    for (let level = this.root.level; level > 0; level--) {
      entries = (await this.#read(level, entryAt(entries, entries.length - 1).start)).entries;
    }
    this.#change(1, undefined, (before) => [...before, ...leaves]);
  }

  /** How many nodes a commit writes at the most: a node above level 1 may be split for the entries it will have. */
  get size(): number {
    return [...this.#changed].reduce((sum, key) => {
      const { level, entries } = this.#node(key);
      return sum + this.#split(entries).length + (level > 1 ? 1 : 0);
    }, 0);
  }

  /** The same after leaves are appended, whose nodes have not been read. */
  sizeWith(leaves: readonly Entry[]): number {
    if (leaves.length === 0) return this.size;
    return this.size + cut(leaves, this.#limits).length + this.root.level + 1;
  }

  /** Splits what is too large, renews the sums up to the root, and writes all of it at once. */
  async commit(name: RootName): Promise<void> {
    for (let level = 1; level <= this.root.level; level++) this.#renew(level);
    while (rootBytes(this.root) > this.#limits.rootBytes && this.root.entries.length > 1) this.#growRoot();
    const nodes = [...this.#changed].map((key) => this.#node(key));
    await commit(this.#owner, name, this.root, nodes);
  }

  /** Splits the changed nodes of a level, and puts their sums into the entries one level up. */
  #renew(level: number): void {
    for (const key of [...this.#changed]) {
      const { entries, start, ...node } = this.#node(key);
      if (node.level !== level) continue;
      const parts = this.#split(entries).map((part, i) =>
        this.#put(level, part, i === 0 ? start : undefined),
      );
      this.#change(level + 1, start, (above) => above.toSpliced(indexAt(above, start), 1, ...parts));
    }
  }

  /** Puts the root's entries into nodes one level down. */
  #growRoot(): void {
    const level = this.root.level + 1;
    const entries = cut(this.root.entries, this.#limits).map((part) => this.#put(level, part));
    this.root = { ...this.root, level, entries };
  }

  /** Makes a node, or changes it. @returns the entry for it one level up */
  #put(level: number, entries: readonly Entry[], start = entryAt(entries, 0).start): Entry {
    const key = nodeId(level, start);
    this.#nodes.set(key, { level, start, entries });
    this.#changed.add(key);
    return { ...sumEntry(entries), start };
  }

  /** Entries for one node as they are, or for several when they are too many or too large for one. */
  #split(entries: readonly Entry[]): readonly (readonly Entry[])[] {
    const known = this.#parts.get(entries);
    if (known) return known;
    const fits = encodeEntries(entries).length <= this.#limits.nodeBytes;
    const parts = fits ? [entries] : cut(entries, this.#limits);
    this.#parts.set(entries, parts);
    return parts;
  }

  /**
   * Changes the entries beside the one that a sort key belongs to (the last one without it) on the level's node, or on
   * the root if it has none; the nodes on the way there have been read.
   */
  #change(
    level: number,
    sk: string | undefined,
    change: (entries: readonly Entry[]) => readonly Entry[],
  ): void {
    let { entries } = this.root;
    const path: Node[] = [];
    for (let above = this.root.level; above >= level; above--) {
      const index = sk === undefined ? entries.length - 1 : indexAt(entries, sk);
      const node = this.#node(nodeId(above, entryAt(entries, index).start));
      path.push(node);
      entries = node.entries;
    }
    const changed = change(entries);
    if (changed === entries) return;
    for (const node of path) this.#changed.add(nodeId(node.level, node.start));
    const holder = path.at(-1);
    if (holder) this.#put(level, changed, holder.start);
    else this.root = { ...this.root, entries: changed };
  }

  async #read(level: number, start: string): Promise<Node> {
    const key = nodeId(level, start);
    let read = this.#reads.get(key);
    if (!read) {
      read = this.#fetch(level, start);
      this.#reads.set(key, read);
    }
    await read;
    return this.#node(key);
  }

  async #fetch(level: number, start: string): Promise<void> {
    const key = nodeId(level, start);
    if (this.#nodes.has(key)) return;
    const entries = await readNode(this.#owner, this.root.generation, level, start);
    if (!entries) throw new TreeChangedError("A node is gone.");
    this.#nodes.set(key, { level, start, entries });
  }

  #node(key: string): Node {
    const node = this.#nodes.get(key);
    if (!node) throw new TreeChangedError("The nodes that were read are not of one tree.");
    return node;
  }
}

const nodeId = (level: number, start: string) => `${level}#${start}`;

/** Cuts entries into lists that each fill a node as far as one is filled when it is split. */
function cut(entries: readonly Entry[], { keptBytes }: Limits): Entry[][] {
  const parts: Entry[][] = [];
  let bytes = 0;
  for (const entry of entries) {
    const part = parts.at(-1);
    bytes += encodedBytes(entry, part?.at(-1));
    if (part && bytes <= keptBytes) part.push(entry);
    else {
      parts.push([entry]);
      bytes = encodedBytes(entry);
    }
  }
  return parts;
}

/** The index of the entry whose part of the list has the sort key: the last one that does not start after it. */
function indexAt(entries: readonly Entry[], sk: string): number {
  let low = 0;
  for (let high = entries.length; high - low > 1; ) {
    const middle = (low + high) >>> 1;
    if (entryAt(entries, middle).start <= sk) low = middle;
    else high = middle;
  }
  return low;
}

function entryAt(entries: readonly Entry[], index: number): Entry {
  const entry = entries[index];
  if (!entry) throw new TreeChangedError("The nodes that were read are not of one tree.");
  return entry;
}
