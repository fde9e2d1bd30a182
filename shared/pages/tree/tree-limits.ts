/** The sizes and times of a counted tree. */
export interface Limits {
  /** How old rows must be before they are counted, in milliseconds: no route's write lands later than that. */
  readonly allowedLateness: number;
  /** How far clocks may differ, in milliseconds. */
  readonly skew: number;
  /** How many rows the tail may have before it is worth a commit. */
  readonly tail: number;
  /** The rows of a new leaf. */
  readonly leafRows: number;
  /** A leaf of more rows than this is split. */
  readonly largestLeaf: number;
  /** A node whose entries take more bytes than this is split. */
  readonly nodeBytes: number;
  /** The bytes of entries that a node keeps when it is split, at the most. */
  readonly keptBytes: number;
  /** A root of more bytes than this puts its entries into nodes. */
  readonly rootBytes: number;
  /** The rows that are read at once, of a leaf's range or of the tail. */
  readonly rangeRows: number;
  /** The nodes of a commit after which the other leaves wait for the next. */
  readonly commitNodes: number;
  /** The nodes of a commit beyond which the tail waits for the next; a transaction takes 100 items, the root among them. */
  readonly transactionNodes: number;
}

/** The limits in service; tests take smaller ones, to see every case in small trees. */
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
  commitNodes: 72,
  transactionNodes: 95,
};
