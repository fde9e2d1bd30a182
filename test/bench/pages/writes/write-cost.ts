import { type Call, largestTransaction, readUnits, writeUnits } from "../../../support/meter.ts";
import { mean, type Spread, spread, sum } from "../../../support/statistics.ts";

/** A number of changes of one kind. */
export interface Changes {
  readonly what: string;
  /** Selects the limits on their cost; `uncounted` changes affect no count. */
  readonly kind: "lone" | "burst" | "steady" | "scattered" | "uncounted" | "back-dated";
  readonly count: number;
  /** Of an account that has so many. */
  readonly sources?: number;
}

/** The cost of each change, and the additional cost of counting it. */
export interface Writing extends Changes {
  readonly write: number;
  readonly read: number;
  readonly extraWrite: number;
  readonly extraRead: number;
  /** Of one invocation of the maintainer. */
  readonly oneWrite: Spread;
  readonly oneRead: Spread;
  readonly largestTransaction: number;
}

/**
 * @param changes the table calls of each change
 * @param maintenance the table calls of each invocation of the maintainer
 */
export const summarizeWriting = (
  kind: Changes,
  changes: readonly (readonly Call[])[],
  maintenance: readonly (readonly Call[])[],
): Writing => ({
  ...kind,
  write: mean(changes.map(writeUnits)),
  read: mean(changes.map(readUnits)),
  extraWrite: sum(maintenance.map(writeUnits)) / kind.count,
  extraRead: sum(maintenance.map(readUnits)) / kind.count,
  oneWrite: spread(maintenance.map(writeUnits)),
  oneRead: spread(maintenance.map(readUnits)),
  largestTransaction: Math.max(0, ...maintenance.map(largestTransaction)),
});
