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
  readonly look: Look;
}

/** The last look at the account, which is shared by all rows. */
interface Look {
  /** When it was, in milliseconds since the epoch. */
  at: number;
  /** Whether the account existed. */
  exists: boolean;
  running?: Promise<void> | undefined;
}

interface StoringOptions {
  readonly account: string;
  readonly dryRun?: boolean;
  /** Whether the account must exist already, as by default. */
  readonly exists?: boolean;
}

/** Thrown when the account was erased meanwhile. */
class AccountErasedError extends UserError {}

/**
 * Stores rows in an account, and reports how many are stored if it ends early.
 *
 * @param countStored returns how many rows are stored so far
 */
export async function storeRows(
  { account, dryRun = false, exists = true }: StoringOptions,
  pace: Pace,
  countStored: () => number,
  store: (storing: Storing) => Promise<void>,
): Promise<void> {
  const runId = newId("import");
  reportProgress(() => `${countStored()} rows are stored, new ones as ${runId}.`);
  try {
    await store({ account, runId, dryRun, pace, look: { at: 0, exists } });
  } catch (error) {
    // A copy that is run again would bring the erased account back.
    const advice = error instanceof AccountErasedError ? "" : " Run the same command again to continue.";
    const cause = await toUserError(error);
    const reason = errorMessage(cause).replace(/\.?$/, ".");
    const message = `Stopped after ${countStored()} rows, new ones as ${runId}: ${reason}${advice}`;
    throw cause instanceof UserError ? new UserError(message, { cause }) : new Error(message, { cause });
  }
}

/** How long a look at the account is enough, in milliseconds. */
const lookedFor = 1000;

/** How long a look can take, in milliseconds: what its call may take. If it seems to take longer, this process has slept. */
const longestLook = 10_000;

/**
 * Checks that the account may be written to, before each write. It looks at the account once a second, and again after this
 * process has slept. A condition in each transaction would let the transactions that run at the same time conflict.
 *
 * @throws UserError when the account is frozen or was erased meanwhile
 */
export async function checkWritable(storing: Storing): Promise<void> {
  const { look } = storing;
  // On a slow network, each look takes longer than it is enough: one that this call has waited for is enough.
  for (let enough = lookedFor; Date.now() - look.at >= enough; enough = longestLook) {
    look.running ??= lookAgain(storing).finally(() => {
      look.running = undefined;
    });
    await look.running;
  }
}

async function lookAgain({ account, pace, look }: Storing): Promise<void> {
  await pace.spend(1);
  let at = 0;
  const item = await pace.retry(() => {
    at = Date.now();
    return readItem(accountKey(account));
  });
  const frozenAt = frozenSince(item);
  if (frozenAt)
    throw new UserError(
      `The account ${account} has been frozen since ${frozenAt}, because it is being moved or erased.`,
    );
  if (!item && look.exists) throw new AccountErasedError(`The account ${account} was erased meanwhile.`);
  look.at = at;
  look.exists = item !== undefined;
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
