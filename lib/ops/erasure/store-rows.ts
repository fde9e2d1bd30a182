import { ulid } from "ulid";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { toPartialFailure } from "../output/aws-errors.ts";
import type { Storing } from "../table/write-items.ts";
import { readErasedIds } from "./erased-leads.ts";
import { sweepErasedSince } from "./sweep-erased.ts";

/** How the rows of an account are stored. */
export interface StoringRows extends Storing {
  readonly account: string;
  /** The ids of the erased leads, of which nothing is stored. */
  readonly erased: Set<string>;
  /** The erased leads that no row has named. Of the others, an earlier run may have stored something. */
  readonly unmet: Set<string>;
}

/** Whether a lead that a row names is erased. */
export function isErased({ erased, unmet }: StoringRows, leadId: string): boolean {
  unmet.delete(leadId);
  return erased.has(leadId);
}

interface RowSource {
  /** Stores the rows. */
  readonly store: (storing: StoringRows) => Promise<void>;
  /** How many rows are stored so far. */
  readonly countStored: () => number;
  /** The conversations among the rows: those of erased leads are deleted, with what was stored after their erasure. */
  readonly conversations?: () => AsyncIterable<{ readonly id: string; readonly leadId: string }>;
}

/**
 * Stores rows in an account, and none of erased leads: what it has stored of leads that were erased meanwhile is deleted at
 * its end, also when it fails.
 */
export async function storeRows(
  { account, dryRun = false }: { readonly account: string; readonly dryRun?: boolean },
  pace: Pace,
  { store, countStored, conversations = async function* () {} }: RowSource,
): Promise<void> {
  const erased = new Set(await readErasedIds(account, pace));
  const unmet = new Set(erased);
  const sweep = async () => dryRun || sweepErasedSince(account, unmet, conversations, pace);
  try {
    await store({ account, runId: ulid(), dryRun, erased, unmet, pace });
    await sweep();
  } catch (error) {
    // The operator may not run the command again. The first error is the one to report.
    await sweep().catch(() => {});
    throw await toPartialFailure(
      error,
      (reason) => `Stopped after ${countStored()} rows: ${reason} Run the same command again to continue.`,
    );
  }
}
