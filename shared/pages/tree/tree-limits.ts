/** The sizes and times of a counted tree. */
export interface Limits {
  /**
   * How old rows must be before they are counted, in milliseconds: no write of a route lands later. The watermark stays
   * this far behind the clock.
   */
  readonly allowedLateness: number;
  /** How far clocks may differ, in milliseconds. */
  readonly skew: number;
  /** The number of rows that the tail may have before a commit pays. */
  readonly tail: number;
  /** The rows of a new leaf. */
  readonly leafRows: number;
  /** A leaf of more rows than this is split. */
  readonly largestLeaf: number;
  /** A node whose entries take more bytes than this is split. */
  readonly nodeBytes: number;
  /** The most bytes of entries that a node keeps when it is split. */
  readonly keptBytes: number;
  /** A root of more bytes than this moves its entries into nodes. */
  readonly rootBytes: number;
  /** The most rows of a leaf or of the tail that are read at once. */
  readonly rangeRows: number;
  /** How long a commit may read leaves, in milliseconds; then the others wait for the next commit. */
  readonly commitTime: number;
  /** The nodes of a commit after which the other leaves wait for the next commit. */
  readonly commitNodes: number;
  /** The nodes of a commit beyond which the tail waits for the next one; a transaction takes 100 items, with the root. */
  readonly transactionNodes: number;
  /** How late a write may appear in an index, in milliseconds: normally less than a second. */
  readonly indexLateness: number;
  /** A sublist of more rows than this has a tree of its own. */
  readonly sublistRows: number;
  /** A node with the rows of a sublist of more bytes than this is split. */
  readonly rowNodeBytes: number;
  /** The most bytes of rows that such a node keeps. */
  readonly keptRowBytes: number;
  /** The root of a sublist of more bytes than this moves its entries into nodes. */
  readonly sublistRootBytes: number;
  /** One new row in this many makes a maintainer look at its sublists. */
  readonly lookEvery: number;
  /** So many new rows of a sublist in one batch make a maintainer look at it, too. */
  readonly manyRows: number;
  /** The number of rows that pay a commit of a sublist: of those that are old enough to be read from the index. */
  readonly sublistTail: number;
  /** The number of younger rows that pay reading the whole list, for that is consistent. */
  readonly youngTail: number;
  /** The most rows that a commit adds to a sublist. */
  readonly sublistCommitRows: number;
}

/** The age from which rows that a route created are in an index for certain, in milliseconds. */
export const indexedAge = ({ allowedLateness, indexLateness, skew }: Limits) =>
  allowedLateness + indexLateness + skew;

/** The time, in milliseconds since the epoch, before which all writes are in an index for certain. */
export const indexedBefore = (clock: number, { indexLateness, skew }: Limits) => clock - indexLateness - skew;

/** The limits in production; tests use smaller ones, to see every case in small trees. */
export const limits: Limits = {
  allowedLateness: 5000,
  skew: 2000,
  tail: 16,
  leafRows: 96,
  largestLeaf: 192,
  nodeBytes: 3800,
  keptBytes: 3400,
  rootBytes: 3900,
  rangeRows: 25_000,
  commitTime: 2000,
  commitNodes: 72,
  transactionNodes: 95,
  indexLateness: 30_000,
  sublistRows: 192,
  rowNodeBytes: 2400,
  keptRowBytes: 2200,
  sublistRootBytes: 7800,
  lookEvery: 20,
  manyRows: 32,
  sublistTail: 64,
  youngTail: 96,
  sublistCommitRows: 500,
};
