import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { type Pace, readsPerWrite } from "../../../shared/dynamodb/pace.ts";
import { type Item, type Key, readItem, table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { newId } from "../../../shared/ids.ts";
import { inParallel } from "../../../shared/in-parallel.ts";
import { toPartialFailure } from "../output/aws-errors.ts";
import { reportProgress } from "../output/interruption.ts";
import { deleteLead, readErasedIds } from "./erased-leads.ts";
import { ItemsToErase } from "./items-to-erase.ts";
import { sweep, sweepDelay } from "./sweep-erased.ts";

/** How rows of an account are stored that come from elsewhere: a file, or another table. */
export interface Storing {
  readonly account: string;
  /** The id of this import or copy, with its time. Its items have it, and of their events those of leads. */
  readonly runId: string;
  /** Whether nothing is written. */
  readonly dryRun: boolean;
  readonly pace: Pace;
  /** The ids of the erased leads, of which nothing is stored. */
  readonly erased: Set<string>;
  /** The erased leads that no row has named. Of the others, an earlier run may have stored something. */
  readonly unmet: Set<string>;
}

/** Whether a lead that a row names is erased. */
export function isErased({ erased, unmet }: Storing, leadId: string): boolean {
  unmet.delete(leadId);
  return erased.has(leadId);
}

interface RowSource {
  /** Stores the rows. */
  readonly store: (storing: Storing) => Promise<void>;
  /** How many rows are stored so far. */
  readonly countStored: () => number;
  /** The conversations among the rows: an erasure may have deleted one before its messages were stored. */
  readonly conversations?: () => AsyncIterable<{ readonly id: string; readonly leadId: string }>;
}

/**
 * Stores rows in an account, and none of erased leads: what it has stored of leads that were erased meanwhile is deleted at
 * its end, also when it fails.
 */
export async function storeRows(
  { account, dryRun = false }: { readonly account: string; readonly dryRun?: boolean },
  pace: Pace,
  { store, countStored, conversations }: RowSource,
): Promise<void> {
  const erased = new Set(await readErasedIds(account, pace));
  const runId = newId("import");
  const storing = { account, runId, dryRun, erased, unmet: new Set(erased), pace };
  const end = async () => dryRun || sweepErased(storing, conversations);
  try {
    reportProgress(() => `${countStored()} rows are stored, new ones as ${runId}.`);
    await store(storing);
    await end();
  } catch (error) {
    // The operator may not run the command again. The first error is the one to report.
    await end().catch(() => {});
    throw await toPartialFailure(
      error,
      (reason) =>
        `Stopped after ${countStored()} rows, new ones as ${runId}: ${reason} Run the same command again to continue.`,
    );
  }
}

/**
 * Deletes what was stored of erased leads: by this run before the lead was erased, or by one that ended early. If there are
 * such leads, it deletes them first, and what belongs to them 32 seconds later.
 */
async function sweepErased(
  { account, unmet, pace }: Storing,
  conversations: RowSource["conversations"] = async function* () {},
): Promise<void> {
  const leads = new Set([...(await readErasedIds(account, pace))].filter((id) => !unmet.has(id)));
  if (leads.size === 0) return;
  await inParallel([...leads], (id) => deleteLead(account, id, pace));
  await pace.wait(sweepDelay);
  const known: string[] = [];
  for await (const { id, leadId } of conversations()) if (leads.has(leadId)) known.push(id);
  const found = new ItemsToErase({ account, leads });
  await sweep(found, { pace, scan: false, conversations: known });
  if (found.invalid.size > 0) console.error(found.invalid.toSentence());
}

/** Stores an item that is absent, and leaves one that exists as it is. */
export async function storeOnce(storing: Storing, item: Item & Key): Promise<"stored" | "present"> {
  const outcome = await storing.pace.retry(async () => {
    const stored = await readItem({ pk: item.pk, sk: item.sk });
    if (stored) return "present";
    if (!storing.dryRun) await table.send(new PutCommand(putAbsent(storing, item)));
    return "stored";
  });
  await spend(storing, item, outcome);
  return outcome;
}

/** The parameters of a write that stores an item if it is absent. */
export const putAbsent = ({ runId }: Storing, item: Item) => ({
  TableName: tableName,
  Item: { ...item, imported: runId },
  ConditionExpression: "attribute_not_exists(pk)",
});

/** Spends the units of a read, or about those that an item writes to its partition key: those of indexes have their own. */
export function spend({ dryRun, pace }: Storing, item: Item, outcome: unknown): Promise<void> {
  const isWritten = !dryRun && ["stored", "replaced", "updated"].some((written) => written === outcome);
  return pace.spend(isWritten ? readsPerWrite * Math.ceil(JSON.stringify(item).length / 1024) : 1);
}
