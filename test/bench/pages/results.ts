import type { AccountReport } from "./scenarios.ts";
import type { TreeSize } from "./tree.ts";
import type { Writing } from "./write-cost.ts";

/** All that a run measured. */
export interface Results {
  readonly accounts: readonly AccountReport[];
  /** Changes of the largest account. */
  readonly writings: readonly Writing[];
  readonly sources: TreeSize;
  readonly backdated: readonly Writing[];
}
