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
}

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
};
