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
  /** The read units that the tail may cost before a commit pays. */
  readonly tailUnits: number;
  /** A node whose entries take more bytes than this is split. */
  readonly nodeBytes: number;
  /** The most bytes of entries that a node keeps when it is split. */
  readonly keptBytes: number;
  /** A root whose entries take more bytes than this moves them into nodes. */
  readonly rootBytes: number;
  /** If the newest rows take more bytes than this, the root moves the oldest of them into nodes. */
  readonly lastBytes: number;
  /** The most rows that are read at once to be counted. */
  readonly rowsAtOnce: number;
  /** The most nodes that are read for the changed rows of a commit. */
  readonly nodesRead: number;
  /** The most nodes that a commit writes; a transaction takes 100 items. */
  readonly nodesWritten: number;
  /** The rows of a sublist that pay a commit. */
  readonly sublistRows: number;
  /** The rows of a list after which each of its sublists is fed. */
  readonly fedRows: number;
}

/** The limits in production; tests use smaller ones, to see every case in small trees. */
export const limits: Limits = {
  allowedLateness: 4500,
  skew: 2000,
  tail: 16,
  tailUnits: 8,
  nodeBytes: 1900,
  keptBytes: 1700,
  rootBytes: 1800,
  lastBytes: 1900,
  rowsAtOnce: 1000,
  nodesRead: 40,
  nodesWritten: 95,
  sublistRows: 64,
  fedRows: 2000,
};
