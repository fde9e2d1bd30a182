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
  indexLateness: limits.indexLateness,
  sublistRows: 2,
  rowNodeBytes: 90,
  keptRowBytes: 70,
  sublistRootBytes: 500,
  lookEvery: 1,
  manyRows: 1,
  sublistTail: 2,
  youngTail: 3,
  sublistCommitRows: 4,
};
