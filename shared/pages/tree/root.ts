import { type Entry, encodeEntries } from "./entry.ts";

/** The top of a counted tree. */
export interface Root {
  /** Raised by each commit and never repeated: the first commit sets it to the generation. 0 before the first commit. */
  readonly version: number;
  /**
   * Distinguishes the nodes of this tree from those of earlier trees, even deleted ones: the time at which the tree was
   * created or emptied, in milliseconds since the epoch, or the former generation plus one if that is greater.
   */
  readonly generation: number;
  /** The level of the nodes that the entries sum up: 1 for nodes of rows. */
  readonly level: number;
  readonly entries: readonly Entry[];
  /** The write buffer: the newest rows, which are in no node. */
  readonly buffer: readonly Entry[];
  /** A sort key that is after all rows in nodes, and not after any row of the write buffer; empty without nodes. */
  readonly bufferStart: string;
  /** The tree has exactly the rows before this sort key. */
  readonly watermark: string;
  /**
   * Of a list: each row before this sort key is in the tree of its label, or the record of its change is still to come. It
   * is set back when the tree of a label is emptied.
   */
  readonly fed?: string | undefined;
  /** Of a list whose account was erased: when DynamoDB deletes this root, which counts no rows, in seconds since the epoch. */
  readonly expiresAt?: number | undefined;
}

/** A tree without rows: all rows are its tail. */
export const emptyRoot = (generation: number): Root => ({
  version: 0,
  generation,
  level: 1,
  entries: [],
  buffer: [],
  bufferStart: "",
  watermark: "",
});

/** An empty tree that replaces another one, whose nodes are never read again. */
export const emptied = ({ version, generation, fed }: Root, clock: number): Root => ({
  ...emptyRoot(Math.max(clock, generation + 1)),
  version,
  fed,
});

/** The attributes of a root's item, without its key. `bufferStart` separates the write buffer from the other entries. */
export const rootItem = ({ entries, buffer, ...others }: Root) => ({
  ...others,
  entries: encodeEntries([...entries, ...buffer]),
});
