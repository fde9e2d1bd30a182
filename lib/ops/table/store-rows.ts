import { frozenSince } from "../../../shared/domain/accounts.ts";
import { accountKey } from "../../../shared/dynamodb/keys.ts";
import { type Pace, readsPerWrite } from "../../../shared/dynamodb/pace.ts";
import { type Item, readItem, tableName } from "../../../shared/dynamodb/table-client.ts";
import { newId } from "../../../shared/ids.ts";
import { errorMessage, UserError } from "../../user-error.ts";
import { toUserError } from "../output/aws-errors.ts";
import { reportProgress } from "../output/interruption.ts";

/** How the rows of a file, or of another table, are stored in an account. */
export interface Storing {
  readonly account: string;
  /** The id of this import or copy, with its time. All stored items have this id, and so do the events of leads. */
  readonly runId: string;
  /** Whether nothing is written. */
  readonly dryRun: boolean;
  readonly pace: Pace;
  /** Whether the account existed when it was last read: its absence then means that it was erased meanwhile. */
  exists: boolean;
}

/** Thrown when the account was erased meanwhile. */
class AccountErasedError extends UserError {}

/**
 * Stores rows in an account, which by default must exist already, and reports how many are stored if it ends early.
 *
 * @param countStored returns how many rows are stored so far
 */
export async function storeRows(
  { account, dryRun = false, exists = true }: Pick<Storing, "account"> & Partial<Storing>,
  pace: Pace,
  countStored: () => number,
  store: (storing: Storing) => Promise<void>,
): Promise<void> {
  const runId = newId("import");
  reportProgress(() => `${countStored()} rows are stored, new ones as ${runId}.`);
  try {
    await store({ account, runId, dryRun, pace, exists });
  } catch (error) {
    // A copy that is run again would bring the erased account back.
    const advice = error instanceof AccountErasedError ? "" : " Run the same command again to continue.";
    const cause = await toUserError(error);
    const reason = errorMessage(cause).replace(/\.?$/, ".");
    const message = `Stopped after ${countStored()} rows, new ones as ${runId}: ${reason}${advice}`;
    throw cause instanceof UserError ? new UserError(message, { cause }) : new Error(message, { cause });
  }
}

/**
 * Checks that the account may be written to, before each write. A condition in each transaction would let the transactions
 * that run at the same time conflict.
 *
 * @throws UserError when the account is frozen or was erased meanwhile
 */
export async function checkWritable(storing: Storing): Promise<void> {
  const { account, pace } = storing;
  await pace.spend(1);
  const item = await readItem(accountKey(account));
  const frozenAt = frozenSince(item);
  if (frozenAt)
    throw new UserError(
      `The account ${account} has been frozen since ${frozenAt}, because it is being moved or erased.`,
    );
  if (!item && storing.exists) throw new AccountErasedError(`The account ${account} was erased meanwhile.`);
  storing.exists = item !== undefined;
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
