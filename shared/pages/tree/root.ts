import { noCells } from "./cells.ts";
import { decodeEntries, type Entry, encodeEntries } from "./entry.ts";
import { emptyDictionary, type Names } from "./names.ts";

/** The top of a counted tree. */
export interface Root {
  /** Raised by each commit and never repeated; 0 before the first. */
  readonly version: number;
  /** Distinguishes the nodes of this tree from those of earlier trees. */
  readonly generation: number;
  /** What the entries are for: 0 for leaves, n for nodes of level n. */
  readonly level: number;
  readonly entries: readonly Entry[];
  /** The newest leaf, which grows; it ends at the watermark. */
  readonly last: Entry;
  /** The sort key where the counted rows end and the tail begins. */
  readonly watermark: string;
  readonly names: Names;
  /** The starts of the leaves without counts. */
  readonly pending: readonly string[];
  /** The generation of the tree with which a rebuild will replace this one. */
  readonly rebuilding?: number | undefined;
  /** When the rebuild of this tree last counted rows, in milliseconds since the epoch; absent when it is complete. */
  readonly progressAt?: number | undefined;
}

const firstLeaf: Entry = { start: "", cells: noCells };

/** A tree that has counted nothing: all rows are its tail. */
export const emptyRoot = (generation: number, names?: Names): Root => ({
  version: 0,
  generation,
  level: 0,
  entries: [],
  last: firstLeaf,
  watermark: "",
  names: names ?? { statuses: emptyDictionary, labels: emptyDictionary },
  pending: [],
});

/**
 * The root as attributes of its item, without the key. Stored names are final: `through` is the watermark, `origins` are
 * the sources or channels.
 */
export function rootItem({ entries, last, watermark, names, pending, rebuilding, ...others }: Root) {
  return {
    ...others,
    through: watermark,
    entries: encodeEntries(entries),
    last: encodeEntries([last]),
    statuses: names.statuses.names,
    statusesFull: names.statuses.full,
    origins: names.labels.names,
    originsFull: names.labels.full,
    pending,
    ...(rebuilding !== undefined && { rebuilding }),
  };
}

/** The reverse of `rootItem`. */
export function toRoot(item: ReturnType<typeof rootItem>): Root {
  const { version, generation, level, through, pending, rebuilding, progressAt } = item;
  const [last = firstLeaf] = decodeEntries(item.last);
  return {
    ...{ version, generation, level, last, watermark: through, pending, rebuilding, progressAt },
    entries: decodeEntries(item.entries),
    names: {
      statuses: { names: item.statuses, full: item.statusesFull },
      labels: { names: item.origins, full: item.originsFull },
    },
  };
}

/** About how many bytes the root takes as an item: its key and the names of its attributes are 200 of them. */
export function rootBytes(root: Root): number {
  const { entries, last, statuses, origins, pending, through } = rootItem(root);
  const texts = [...statuses, ...origins, ...pending, through];
  return (
    200 + entries.length + last.length + texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 3, 0)
  );
}
