import { type Limits, limits } from "../../../shared/pages/tree/tree-limits.ts";

/** Limits small enough that a few rows exercise every case of a counted tree. */
export const smallLimits: Limits = {
  allowedLateness: limits.allowedLateness,
  skew: limits.skew,
  tail: 3,
  tailUnits: 1000,
  nodeRows: 4,
  nodeEntries: 6,
  rowsAtOnce: 12,
  nodesRead: 4,
  nodesWritten: 8,
  fedRows: 6,
};
