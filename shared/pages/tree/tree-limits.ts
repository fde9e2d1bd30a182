/** The sizes and times of a counted tree in production; tests use smaller ones, to see every case in small trees. */
export const limits = {
  /**
   * How old rows must be before they are counted, in milliseconds: no write of a route lands later by any clock. The
   * watermark stays this far behind the clock. A write lands within 2.5 s of its id (`table-client.ts`), and clocks may
   * differ by the skew.
   */
  allowedLateness: 2750,
  /** How far clocks may differ, in milliseconds. */
  skew: 250,
  /** The number of rows that the tail may have before a commit pays. */
  tail: 16,
  /** The read units that the tail may cost before a commit pays. */
  tailUnits: 8,
  /** The most rows of a node, and of the write buffer: a node of rows has less than 1 KB. */
  nodeRows: 48,
  /** The most entries of a node of sums, and of the root, which mostly has less than 4 KB. */
  nodeEntries: 170,
  /** The most rows that are read at once to be counted. */
  rowsAtOnce: 1000,
  /** The most nodes of a level that are read for the changed rows of a commit. */
  nodesRead: 40,
  /** The most nodes that a commit writes; a transaction takes 100 items. */
  nodesWritten: 95,
  /** The most rows of a list that are fed to its labels at once. */
  fedRows: 2000,
};

export type Limits = Readonly<typeof limits>;
