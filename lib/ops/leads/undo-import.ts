import { keepLead } from "../../../shared/domain/leads.ts";
import { accountPartition, leadKey } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { inPartition, queryItems } from "../../../shared/dynamodb/read-pages.ts";
import { type Item, isAsRead, readItem, tableName } from "../../../shared/dynamodb/table-client.ts";
import { buildUpdate } from "../../../shared/dynamodb/updates.ts";
import { newId } from "../../../shared/ids.ts";
import { inParallel } from "../../../shared/in-parallel.ts";
import { fieldsOf } from "../../../shared/schemas/record.ts";
import { UserError } from "../../user-error.ts";
import { confirm, type Tools } from "../command/action.ts";
import { type AccountOptions, opsCommand } from "../command/command.ts";
import { leadDeletion, readErasedLeads } from "../erasure/erased-leads.ts";
import { waitForWriters } from "../erasure/wait-for-writers.ts";
import { reportProgress } from "../output/interruption.ts";
import { type InvalidItems, someInvalid } from "../table/invalid-items.ts";
import { findConversations } from "../table/read-items.ts";
import { tableTime } from "../table/table-clock.ts";
import { readStored, type StoredRecords, toItem } from "../table/valid-records.ts";
import { writeTogether } from "../table/write-items.ts";

type ImportedRow = StoredRecords["leadImport"];

/** Reads the records of the rows that an account has imported, without those of erased leads. */
export async function* readImportedRows(account: string, pace: Pace, invalid: InvalidItems) {
  const erased = new Set((await readErasedLeads(account, pace)).map(({ leadId }) => leadId));
  for await (const items of queryItems(inPartition(accountPartition("leadImport", account)), pace))
    for (const item of items) {
      const row = readStored("leadImport", item, invalid);
      if (row && !erased.has(row.leadId)) yield row;
    }
}

/** How many leads are undone between two lines of progress. */
const step = 500;

/**
 * Erases the leads of an import that were not changed or written to since. Each lead is marked first: from then on, the
 * transaction of a new message removes the mark. After all requests that found the lead unmarked have ended, the lead is
 * erased if it still has the mark and no conversation. An interrupted undo continues when the command is run again.
 */
export async function undoImport(importId: string, options: AccountOptions, { pace, invalid }: Tools) {
  const { account, dryRun = false, yes } = options;
  const rows: ImportedRow[] = [];
  for await (const row of readImportedRows(account, pace, invalid))
    if (row.importId === importId) rows.push(row);
  if (rows.length === 0)
    throw new UserError(
      `The account ${account} has no leads of the import ${importId}: see ${opsCommand(options, `leads imports --account ${account}`)}.`,
    );
  if (!dryRun && !yes) {
    console.error(`The import ${importId} has made ${rows.length} leads that are not erased.`);
    await confirm(importId, { kind: "import", action: "erase those that were not changed", by: "id" });
  }
  const kept = new Map<string, string>();
  const each = async (what: string, run: (row: ImportedRow) => Promise<string | undefined>) => {
    const left = rows.filter(({ leadId }) => !kept.has(leadId));
    let count = 0;
    const progress = () => `${what} ${count} of ${left.length} leads.`;
    reportProgress(progress);
    await inParallel(left, async (row) => {
      const reason = await run(row);
      if (reason) kept.set(row.leadId, reason);
      count += 1;
      if (count % step === 0 && count < left.length) console.error(progress());
    });
    console.error(progress());
  };
  await each("Checked", (row) => mark(account, row, pace, dryRun));
  if (!dryRun && kept.size < rows.length) {
    await waitForWriters("The leads are marked", pace);
    await each("Finished", (row) => eraseMarked(account, row, pace));
  }
  if (kept.size > 0) process.exitCode = someInvalid;
  const json = { account, importId, erased: rows.length - kept.size, kept: Object.fromEntries(kept) };
  const verb = dryRun ? "would be erased" : "were erased";
  const lines = [
    `${json.erased} leads of the import ${importId} ${verb}, and ${kept.size} kept.`,
    ...Array.from(kept, ([leadId, reason]) => `  ${leadId} ${reason}`),
  ];
  return { json, text: lines.join("\n") };
}

/** Why a lead is kept; undefined if it was not changed or written to. */
async function whyKept(account: string, { leadId, storedAt }: ImportedRow, item: Item, pace: Pace) {
  if (fieldsOf(item).updatedAt !== storedAt) return "was changed";
  const { locks, ids } = await findConversations(account, leadId, pace);
  return locks.length + ids.length > 0 ? "has a conversation" : undefined;
}

/** @returns why the lead is kept; undefined if it is marked */
const mark = (account: string, row: ImportedRow, pace: Pace, dryRun: boolean) =>
  pace.retry(async () => {
    const Key = leadKey(account, row.leadId);
    const item = await readItem(Key);
    if (!item) return "does not exist";
    const reason = await whyKept(account, row, item, pace);
    const { undoing, details } = item;
    // An earlier run that was killed may have marked the lead.
    if (reason || dryRun || undoing) return reason;
    await writeTogether(pace, [{ Update: buildUpdate(Key, { undoing: true }, { details }) }]);
    return undefined;
  });

/** Erases a marked lead, with its event. An import of its row then makes another lead. @returns why it is kept, if it is */
const eraseMarked = (account: string, row: ImportedRow, pace: Pace) =>
  pace.retry(async () => {
    const { leadId } = row;
    const item = await readItem(leadKey(account, leadId));
    // An attempt whose response was lost has erased the lead, or `leads erase` has.
    if (!item) return undefined;
    const { undoing, details } = item;
    const reason = await whyKept(account, row, item, pace);
    if (!undoing) return reason ?? "is not marked any more";
    if (reason) {
      await writeTogether(pace, [{ Update: keepLead(account, leadId) }]);
      return reason;
    }
    const Item = toItem.erasedLead(account, { id: newId("erasure", tableTime()), leadId, undone: true });
    const isUnchanged = {
      ConditionExpression: "undoing = :undoing AND details = :read",
      ExpressionAttributeValues: { ":undoing": undoing, ":read": details },
    };
    await writeTogether(pace, [
      ...(await leadDeletion(account, leadId, item, isUnchanged)),
      { Put: { TableName: tableName, Item, ...isAsRead("pk", undefined) } },
    ]);
    return undefined;
  });
