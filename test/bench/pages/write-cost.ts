import { type Call, largestTransaction, readUnits, writeUnits } from "./meter.ts";
import { mean, type Spread, spread, sum } from "./statistics.ts";

/** Changes of one kind, and how many they are. */
export interface Changes {
  readonly what: string;
  /** What is promised of their cost depends on it; `uncounted` ones are in no count. */
  readonly kind: "lone" | "burst" | "scattered" | "uncounted" | "back-dated";
  readonly count: number;
}

/** What changes cost, each, and what counting them cost besides. */
export interface Writing extends Changes {
  readonly write: number;
  readonly read: number;
  readonly extraWrite: number;
  readonly extraRead: number;
  /** Of one call of the maintainer. */
  readonly oneWrite: Spread;
  readonly oneRead: Spread;
  readonly largestTransaction: number;
}

/**
 * @param changes the calls of each change
 * @param maintenance the calls of each time that the maintainer was called
 */
export const writingOf = (
  of: Changes,
  changes: readonly (readonly Call[])[],
  maintenance: readonly (readonly Call[])[],
): Writing => ({
  ...of,
  write: mean(changes.map(writeUnits)),
  read: mean(changes.map(readUnits)),
  extraWrite: sum(maintenance.map(writeUnits)) / of.count,
  extraRead: sum(maintenance.map(readUnits)) / of.count,
  oneWrite: spread(maintenance.map(writeUnits)),
  oneRead: spread(maintenance.map(readUnits)),
  largestTransaction: Math.max(0, ...maintenance.map(largestTransaction)),
});
