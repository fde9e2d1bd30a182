import type { AccountReport } from "./scenarios.ts";
import type { TreeSize } from "./tree.ts";
import type { Writing } from "./write-cost.ts";

/** Everything that a run measured. */
export interface Results {
  readonly accounts: readonly AccountReport[];
  /** Changes in the largest account. */
  readonly writings: readonly Writing[];
  readonly sources: TreeSize;
  readonly backdated: readonly Writing[];
}
