import type { Retry } from "../../dynamodb/retry.ts";
import { equalCells } from "../tree/cells.ts";
import type { CountedOwner } from "../tree/counted-list.ts";
import { type Entry, encodedBytes, encodeEntries, separator, sumEntry } from "../tree/entry.ts";
import { type Root, rootBytes } from "../tree/root.ts";
import type { Limits } from "../tree/tree-limits.ts";
import { commit, type Node, type RootName, readNode, TreeChangedError } from "../tree/tree-store.ts";

/** The range of a leaf: from `start` up to `end`, exclusive. */
export interface LeafRange {
  readonly start: string;
  readonly end: string;
}

/** An edit of a tree: the future root, and the nodes that were read or made for it. */
export class TreeEdit {
  root: Root;
  readonly #owner: CountedOwner;
  readonly #limits: Limits;
  readonly #retry: Retry;
  readonly #reads = new Map<string, Promise<void>>();
  readonly #nodes = new Map<string, Node>();
  readonly #changed = new Set<string>();
  readonly #parts = new WeakMap<readonly Entry[], readonly (readonly Entry[])[]>();

  /** @param retry repeats a call while the table is busy */
  constructor(
    owner: CountedOwner,
    root: Root,
    { limits, retry = (call) => call() }: { readonly limits: Limits; readonly retry?: Retry | undefined },
  ) {
    this.#owner = owner;
    this.root = root;
    this.#limits = limits;
    this.#retry = retry;
  }

  /** The leaf of a sort key below the watermark; reads the nodes on its path. */
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

  /** Replaces a leaf that was found; the first new leaf has its start. */
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

  /** Adds or replaces a row in the tree of a sublist, or removes it if it is undefined; reads the nodes on its path. */
  async setRow(sk: string, row: Entry | undefined): Promise<void> {
    let { entries } = this.root;
    for (let level = this.root.level; level > 0; level--) {
      entries = (await this.#read(level, entryAt(entries, indexAt(entries, sk)).start)).entries;
    }
    this.#change(1, sk, (rows) => {
      const index = indexAt(rows, sk);
      const found = rows[index];
      const same = found?.start === sk;
      if (row === undefined && !same) return rows;
      if (row && same && equalCells(row.cells, found.cells)) return rows;
      const at = same || !found || sk < found.start ? index : index + 1;
      return rows.toSpliced(at, same ? 1 : 0, ...(row ? [row] : []));
    });
  }

  /** Appends leaves before `last`; reads the nodes on their path. */
  async append(leaves: readonly Entry[]): Promise<void> {
    if (leaves.length === 0) return;
    let { entries } = this.root;
    for (let level = this.root.level; level > 0; level--) {
      entries = (await this.#read(level, entryAt(entries, entries.length - 1).start)).entries;
    }
    this.#change(1, undefined, (before) => [...before, ...leaves]);
  }

  /** The most nodes that a commit would write: a node above level 1 may be split for its future entries. */
  get size(): number {
    // The root may have to move its entries into nodes.
    const { level, entries } = this.root;
    const parts = this.#owner.sublist ? this.#mostParts(level + 1, entries) : 1;
    return [...this.#changed].reduce((sum, key) => {
      const { level, entries } = this.#node(key);
      return sum + this.#mostParts(level, entries) + (level > 1 ? 1 : 0);
    }, parts - 1);
  }

  /** The most parts that a node is split into: of rows, which are counted often, without encoding them. */
  #mostParts(level: number, entries: readonly Entry[]): number {
    if (!this.#isOfRows(level)) return this.#split(level, entries).length;
    const largest = (entries[0]?.start.length ?? 0) + rowOverhead;
    const fewestRows = Math.max(2, Math.floor(this.#sizes(level).keptBytes / largest));
    return Math.max(1, Math.ceil(entries.length / fewestRows));
  }

  /** The same with appended leaves, whose nodes have not been read. */
  sizeWith(leaves: readonly Entry[]): number {
    if (leaves.length === 0) return this.size;
    return this.size + cut(leaves, this.#limits.keptBytes).length + this.root.level + 1;
  }

  /** Splits nodes that are too large, updates the sums up to the root, and writes everything at once. */
  async commit(name: RootName): Promise<void> {
    for (let level = 1; level <= this.root.level; level++) this.#renew(level);
    const most = this.#owner.sublist ? this.#limits.sublistRootBytes : this.#limits.rootBytes;
    while (rootBytes(this.root) > most && this.root.entries.length > 1) this.#growRoot();
    const nodes = [...this.#changed].map((key) => this.#node(key));
    await this.#retry(() => commit(this.#owner, name, this.root, nodes));
  }

  /** Splits the changed nodes of a level, and updates their entries one level up. */
  #renew(level: number): void {
    for (const key of [...this.#changed]) {
      const { entries, start, ...node } = this.#node(key);
      if (node.level !== level) continue;
      const parts = this.#putParts(level, this.#split(level, entries), start);
      this.#change(level + 1, start, (above) => above.toSpliced(indexAt(above, start), 1, ...parts));
    }
  }

  /** The sizes of the nodes of a level. */
  #sizes(level: number): Pick<Limits, "nodeBytes" | "keptBytes"> {
    const { rowNodeBytes: nodeBytes, keptRowBytes: keptBytes } = this.#limits;
    return this.#isOfRows(level) ? { nodeBytes, keptBytes } : this.#limits;
  }

  /** Whether the entries of a node of a level are rows. */
  #isOfRows = (level: number) => level === 1 && this.#owner.sublist !== undefined;

  /** Moves the root's entries into nodes one level down. */
  #growRoot(): void {
    const level = this.root.level + 1;
    const entries = this.#putParts(level, cut(this.root.entries, this.#sizes(level).keptBytes));
    this.root = { ...this.root, level, entries };
  }

  /** Puts a node for each part. A node of rows starts at the shortest key after the row before it, the first one at "". */
  #putParts(level: number, parts: readonly (readonly Entry[])[], start?: string): readonly Entry[] {
    return parts.map((part, i) => {
      const before = parts[i - 1]?.at(-1);
      if (!before) return this.#put(level, part, start ?? (this.#isOfRows(level) ? "" : undefined));
      return this.#put(
        level,
        part,
        this.#isOfRows(level) ? separator(before.start, entryAt(part, 0).start) : undefined,
      );
    });
  }

  /** Adds or changes a node. @returns its entry one level up */
  #put(level: number, entries: readonly Entry[], start = entryAt(entries, 0).start): Entry {
    const key = nodeId(level, start);
    this.#nodes.set(key, { level, start, entries });
    this.#changed.add(key);
    return { ...sumEntry(entries), start };
  }

  /** The entries of a node: in one part, or in several if they are too large for one node. */
  #split(level: number, entries: readonly Entry[]): readonly (readonly Entry[])[] {
    const known = this.#parts.get(entries);
    if (known) return known;
    const { nodeBytes, keptBytes } = this.#sizes(level);
    const parts = encodeEntries(entries).length <= nodeBytes ? [entries] : cut(entries, keptBytes);
    this.#parts.set(entries, parts);
    return parts;
  }

  /**
   * Changes the entries of the node of a level that has a sort key, or of the root above the highest level. Without a
   * sort key it changes the last node. The nodes on the path have been read.
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
    const { generation } = this.root;
    const entries = await this.#retry(() => readNode(this.#owner, generation, level, start));
    this.#nodes.set(key, { level, start, entries: requirePart(entries) });
  }

  #node(key: string): Node {
    return requirePart(this.#nodes.get(key));
  }
}

/** The most bytes of an encoded row besides its sort key: two lengths, the number of its cells, its cell and its count. */
const rowOverhead = 5;

const nodeId = (level: number, start: string) => `${level}#${start}`;

/** Cuts entries into parts of `keptBytes` each, but of two entries at least: so a level has fewer nodes than the one below. */
function cut(entries: readonly Entry[], keptBytes: number): Entry[][] {
  const parts: Entry[][] = [];
  let bytes = 0;
  for (const entry of entries) {
    const part = parts.at(-1);
    bytes += encodedBytes(entry, part?.at(-1));
    if (part && (bytes <= keptBytes || part.length < 2)) part.push(entry);
    else {
      parts.push([entry]);
      bytes = encodedBytes(entry);
    }
  }
  return parts;
}

/** The index of the entry for a sort key: the last one that does not start after it. */
function indexAt(entries: readonly Entry[], sk: string): number {
  let low = 0;
  for (let high = entries.length; high - low > 1; ) {
    const middle = (low + high) >>> 1;
    if (entryAt(entries, middle).start <= sk) low = middle;
    else high = middle;
  }
  return low;
}

const entryAt = (entries: readonly Entry[], index: number) => requirePart(entries[index]);

/** A node or an entry that must exist, unless the tree changed while its nodes were read. */
function requirePart<T>(part: T | undefined): T {
  if (part === undefined) throw new TreeChangedError("The tree has changed.");
  return part;
}
