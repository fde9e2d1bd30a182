import { noCells } from "./cells.ts";
import { decodeEntries, type Entry, encodeEntries } from "./entry.ts";
import { noStatuses, type Statuses } from "./statuses.ts";

/** The top of a counted tree. */
export interface Root {
  /** Raised by each commit and never repeated, so it begins with the generation; 0 before the first. */
  readonly version: number;
  /**
   * Distinguishes the nodes of this tree from those of earlier trees, also of deleted ones: that of a new tree is the time
   * of its creation, in milliseconds since the epoch, and a tree that replaces another has the next one.
   */
  readonly generation: number;
  /** What the entries are for: 0 for leaves (or for rows, in the tree of a sublist), n for nodes of level n. */
  readonly level: number;
  readonly entries: readonly Entry[];
  /** The newest leaf, which grows; it ends at the watermark. In the tree of a sublist it has no rows. */
  readonly last: Entry;
  /** The sort key where the counted rows end and the tail begins. */
  readonly watermark: string;
  readonly statuses: Statuses;
  /** The starts of the leaves without counts. */
  readonly pending: readonly string[];
  /** The generation of the tree with which a rebuild will replace this one. */
  readonly rebuilding?: number | undefined;
  /** When the rebuild of this tree last counted rows, in milliseconds since the epoch; absent when it is complete. */
  readonly progressAt?: number | undefined;
  /** Of a sublist: a time when its tree was new, in milliseconds since the epoch; absent until its second commit. */
  readonly createdAt?: number | undefined;
  /** The same for the last change of a row of its tail. */
  readonly changedAt?: number | undefined;
  /** The same for the last back-dated row that came to its tail; of a whole list, for the last one of all. */
  readonly backdatedAt?: number | undefined;
  /** Of a sublist: whether the watermark has to pass changed rows of the tail, which lists may remember. */
  readonly overdue?: boolean | undefined;
  /** Of a list whose account was erased: when DynamoDB deletes this root, which counts no rows, in seconds since the epoch. */
  readonly expiresAt?: number | undefined;
}

const firstLeaf: Entry = { start: "", cells: noCells };

/** A tree that has counted nothing: all rows are its tail. */
export const emptyRoot = (generation: number, statuses: Statuses = noStatuses): Root => ({
  version: 0,
  generation,
  level: 0,
  entries: [],
  last: firstLeaf,
  watermark: "",
  statuses,
  pending: [],
});

/** The root as attributes of its item, without the key. */
export function rootItem({ entries, last, statuses, ...others }: Root) {
  return {
    ...others,
    entries: encodeEntries(entries),
    last: encodeEntries([last]),
    statuses: statuses.names,
    statusesFull: statuses.full,
  };
}

/** The reverse of `rootItem`. */
export function toRoot(item: ReturnType<typeof rootItem>): Root {
  const { version, generation, level, watermark, pending, rebuilding, progressAt } = item;
  const { createdAt, changedAt, backdatedAt, overdue, expiresAt } = item;
  const [last = firstLeaf] = decodeEntries(item.last);
  return {
    ...{ version, generation, level, last, watermark, pending, rebuilding, progressAt },
    ...{ createdAt, changedAt, backdatedAt, overdue, expiresAt },
    entries: decodeEntries(item.entries),
    statuses: { names: item.statuses, full: item.statusesFull },
  };
}

/** About how many bytes the root takes as an item: its key and the names of its attributes are 300 of them. */
export function rootBytes(root: Root): number {
  const { entries, last, statuses, pending, watermark } = rootItem(root);
  const texts = [...statuses, ...pending, watermark];
  return (
    300 + entries.length + last.length + texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 3, 0)
  );
}
