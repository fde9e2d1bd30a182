import { type Limits, limits } from "../../shared/pages/tree/tree-limits.ts";

/** Limits small enough that a few rows exercise every case of a counted tree. */
export const smallLimits: Limits = {
  allowedLateness: limits.allowedLateness,
  skew: limits.skew,
  tail: 3,
  leafRows: 3,
  largestLeaf: 6,
  nodeBytes: 90,
  keptBytes: 70,
  rootBytes: 330,
  rangeRows: 12,
  commitTime: limits.commitTime,
  commitNodes: 6,
  transactionNodes: 12,
};
