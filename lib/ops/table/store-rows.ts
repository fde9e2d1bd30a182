import { type Pace, readsPerWrite } from "../../../shared/dynamodb/pace.ts";
import { type Item, tableName } from "../../../shared/dynamodb/table-client.ts";
import { newId } from "../../../shared/ids.ts";
import { toPartialFailure } from "../output/aws-errors.ts";
import { reportProgress } from "../output/interruption.ts";

/** How the rows of a file, or of another table, are stored in an account. */
export interface Storing {
  readonly account: string;
  /** The id of this import or copy, with its time. All stored items have this id, and so do the events of leads. */
  readonly runId: string;
  /** Whether nothing is written. */
  readonly dryRun: boolean;
  readonly pace: Pace;
}

interface RowSource {
  /** Stores the rows. */
  readonly store: (storing: Storing) => Promise<void>;
  /** How many rows are stored so far. */
  readonly countStored: () => number;
}

/** Stores rows in an account, and reports how many are stored if it ends early. */
export async function storeRows(
  { account, dryRun = false }: { readonly account: string; readonly dryRun?: boolean },
  pace: Pace,
  { store, countStored }: RowSource,
): Promise<void> {
  const runId = newId("import");
  const details = () => ({ importId: runId, stored: countStored() });
  reportProgress(() => `${countStored()} rows are stored, new ones as ${runId}.`, details);
  try {
    await store({ account, runId, dryRun, pace });
  } catch (error) {
    const failure = await toPartialFailure(
      error,
      (reason) =>
        `Stopped after ${countStored()} rows, new ones as ${runId}: ${reason} Run the same command again to continue.`,
    );
    throw Object.assign(failure, { details: details() });
  }
}

/** The parameters of a write that stores an item if it is absent. */
export const putAbsent = ({ runId }: Storing, item: Item) => ({
  TableName: tableName,
  Item: { ...item, imported: runId },
  ConditionExpression: "attribute_not_exists(pk)",
});

/**
 * Spends the units of a read, or about the units that a write of an item costs its partition key. Indexes have their own.
 *
 * @param writes how often it is written: twice by a transaction
 */
export function spend(
  { dryRun, pace }: Storing,
  item: Item,
  outcome: unknown,
  writes: number,
): Promise<void> {
  const isWritten = !dryRun && ["stored", "replaced", "updated"].some((written) => written === outcome);
  return pace.spend(isWritten ? writes * readsPerWrite * Math.ceil(JSON.stringify(item).length / 1024) : 1);
}
