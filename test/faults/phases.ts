import type { FaultKind } from "./fault-kinds.ts";
import type { Rates } from "./fault-plan.ts";
import type { Phase } from "./run.ts";

/** The rate of each fault when it is the only one. */
const alone: Readonly<Record<FaultKind, number>> = {
  delay: 0.3,
  late: 0.04,
  "drop before": 0.15,
  "drop after": 0.15,
  throttle: 0.15,
  "server error": 0.15,
  truncate: 0.15,
  conflict: 0.3,
  "stale index": 0.7,
};

const kinds = Object.keys(alone) as FaultKind[];

/** The rate of each fault among all kinds: a fifth. */
const together: Rates = Object.fromEntries(kinds.map((kind) => [kind, alone[kind] / 5]));

/** One phase with all kinds. */
export const mixed = (requests: number): Phase => ({ name: "all", rates: together, requests, clients: 24 });

/** A phase for each kind alone, then one with all kinds. */
export const everyKind = (requests: number): Phase[] => {
  const each = Math.ceil(requests / (kinds.length + 1));
  return [
    ...kinds.map((kind) => ({ name: kind, rates: { [kind]: alone[kind] }, requests: each, clients: 48 })),
    mixed(each),
  ];
};
