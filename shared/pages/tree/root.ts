import { type Entry, encodeEntries } from "./entry.ts";

/** The top of a counted tree. */
export interface Root {
  /** Raised by each commit and never repeated, so it begins with the generation; 0 before the first. */
  readonly version: number;
  /**
   * Distinguishes the nodes of this tree from those of earlier trees, also of deleted ones: the time at which the tree was
   * created or emptied, in milliseconds since the epoch, or the number after the generation before.
   */
  readonly generation: number;
  /** The level of the nodes that the entries sum up: 1 for nodes of rows. */
  readonly level: number;
  readonly entries: readonly Entry[];
  /** The write buffer: the newest rows, which are in no node. */
  readonly buffer: readonly Entry[];
  /** A sort key after all rows in nodes, and not after those of the write buffer; empty without nodes. */
  readonly bufferStart: string;
  /** The tree has exactly the rows before this sort key. */
  readonly watermark: string;
  /**
   * Of a list: each row before this sort key is in the tree of its label, or its change record is still to come. Set back
   * when the tree of a label is emptied.
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

/** An empty tree in place of another: no node of that is ever read again. */
export const emptied = ({ version, generation, fed }: Root, clock: number): Root => ({
  ...emptyRoot(Math.max(clock, generation + 1)),
  version,
  fed,
});

/** The root as attributes of its item, without the key. `bufferStart` tells the rows of the write buffer from the entries of nodes. */
export const rootItem = ({ entries, buffer, ...others }: Root) => ({
  ...others,
  entries: encodeEntries([...entries, ...buffer]),
});
