/** The sizes and times of a counted tree. */
export interface Limits {
  /**
   * How old rows must be before they are counted, in milliseconds: no write of a route lands later by any clock. The
   * watermark stays this far behind the clock.
   */
  readonly allowedLateness: number;
  /** How far clocks may differ, in milliseconds. */
  readonly skew: number;
  /** The number of rows that the tail may have before a commit pays. */
  readonly tail: number;
  /** The read units that the tail may cost before a commit pays. */
  readonly tailUnits: number;
  /** The most rows of a node, and of the newest rows that the root keeps: a node of rows has less than 1 KB. */
  readonly nodeRows: number;
  /** The most entries of a node of sums, and of the root, which mostly has less than 4 KB. */
  readonly nodeEntries: number;
  /** The most rows that are read at once to be counted. */
  readonly rowsAtOnce: number;
  /** The most nodes that are read for the changed rows of a commit. */
  readonly nodesRead: number;
  /** The most nodes that a commit writes; a transaction takes 100 items. */
  readonly nodesWritten: number;
  /** The most rows of a list that are fed to its labels at once. */
  readonly fedRows: number;
}

/** The limits in production; tests use smaller ones, to see every case in small trees. */
export const limits: Limits = {
  // A write lands within 2.5 s of its id (`table-client.ts`), and clocks may differ by the skew.
  allowedLateness: 2750,
  skew: 250,
  tail: 16,
  tailUnits: 8,
  nodeRows: 48,
  nodeEntries: 170,
  rowsAtOnce: 1000,
  nodesRead: 40,
  nodesWritten: 95,
  fedRows: 2000,
};
