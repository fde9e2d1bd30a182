import { unlink, writeFile } from "node:fs/promises";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { Command } from "commander";
import { leadImportKey } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { ApiError } from "../../../shared/errors.ts";
import { maxIdAhead } from "../../../shared/ids.ts";
import { inParallel } from "../../../shared/in-parallel.ts";
import { errorMessage, UserError } from "../../user-error.ts";
import { command, type PacedAccountOptions } from "../command/command.ts";
import { selectPacedAccount } from "../command/known-account.ts";
import { storeRows } from "../copy/store-rows.ts";
import { toText } from "../output/printed-text.ts";
import { someInvalid } from "../table/unreadable.ts";
import { type RowFault, rowFault } from "./csv-rows.ts";
import { withFileOptions } from "./file-options.ts";
import { type FileOptions, type LeadFile, openLeadFile } from "./lead-file.ts";
import type { Import } from "./row-to-lead.ts";
import { storeLead } from "./store-lead.ts";

/** How many rows are written concurrently. */
const parallel = 32;

/** `leads import`: stores the leads of a file, each of them once, no matter how often it runs. */
export const importCommand = (): Command =>
  withFileOptions(
    command("import", "store the leads of a file; after a failure, run it again to continue", {
      paced: true,
      writes: true,
    }),
  )
    .argument("<file>", "a .csv, .tsv or .txt file whose first row names the columns, or a .json array")
    .option(
      "--update",
      "give leads that have the externalId of a row its values; empty cells change nothing",
      false,
    )
    .addHelpText(
      "after",
      "\nInvalid rows are reported in <file>.rejected.jsonl. --dry-run checks the rows and needs no table.\nExit codes: 0 all rows are stored, 1 failure, 3 some rows are invalid.",
    )
    .action(importLeads);

type ImportOptions = PacedAccountOptions & FileOptions & { readonly update: boolean };

async function importLeads(path: string, options: ImportOptions): Promise<void> {
  const { account, dryRun, update } = options;
  const file = await openLeadFile(path, options);
  const rejects = { path: `${path}.rejected.jsonl`, count: 0 };
  // Those of an earlier run.
  await unlink(rejects.path).catch(() => {});
  const { count, blank, digest } = file;
  const readValid = (startedAt: number) =>
    validRows(file, rejects, { digest, startedAt, update, lines: new Map() });
  if (dryRun) {
    const first: object[] = [];
    for await (const { lead } of readValid(Date.now())) if (first.length < 3) first.push(lead);
    const valid = count - rejects.count;
    return printOutcomes(options, count, { valid, ...(blank > 0 && { blank }) }, rejects, first);
  }
  const pace = await selectPacedAccount(options);
  const startedAt = await readImportStart(account, digest.toString("hex"), pace);
  const outcomes = { stored: 0, updated: 0, present: 0, erased: 0 };
  await storeRows(options, pace, {
    countStored: () => outcomes.stored + outcomes.updated + outcomes.present,
    store: (storing) =>
      inParallel(
        readValid(startedAt),
        async (row) => {
          try {
            outcomes[await storeLead(storing, row, update)] += 1;
          } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            await reject(rejects, row.line, error.faults, row.value);
          }
        },
        parallel,
      ),
  });
  const { stored: imported, updated, present, erased } = outcomes;
  const counts = { imported, ...(update && { updated }), present, erased, ...(blank > 0 && { blank }) };
  printOutcomes(options, count, counts, rejects);
}

/**
 * Reads the start of the first import of a file into the account, or records that it starts now.
 *
 * @param sha256 of the file's bytes, in hexadecimal
 * @returns milliseconds since the epoch
 * @throws UserError when the recorded time cannot be read
 */
async function readImportStart(account: string, sha256: string, pace: Pace): Promise<number> {
  const command = new UpdateCommand({
    TableName: tableName,
    Key: leadImportKey(account, sha256),
    UpdateExpression: "SET startedAt = if_not_exists(startedAt, :now)",
    ExpressionAttributeValues: { ":now": new Date().toISOString() },
    ReturnValues: "ALL_NEW",
  });
  const { Attributes } = await pace.retry(() => table.send(command));
  const startedAt = Date.parse(toText(Attributes?.startedAt));
  if (startedAt >= 0 && startedAt <= Date.now() + maxIdAhead) return startedAt;
  throw new UserError(
    `When the first import of the file started cannot be read: delete the item ${command.input.Key?.pk} ${sha256} in the table.`,
  );
}

/** Reads the valid rows. Invalid rows are written to the rejects. */
async function* validRows(file: LeadFile, rejects: Rejects, context: Import) {
  // Its schemas take a quarter of the start of every command.
  const { rowToLead } = await import("./row-to-lead.ts");
  for await (const row of file.rows()) {
    const { line } = row;
    const checked = row.fault ? { faults: [row.fault] } : rowToLead(row.value, line, context);
    if ("lead" in checked) yield checked;
    else await reject(rejects, line, checked.faults, row.value);
  }
}

/** The file of rejected rows, with one JSON object on each line. It is created with the first row. */
interface Rejects {
  readonly path: string;
  count: number;
}

/** @throws UserError when the file cannot be written */
async function reject(rejects: Rejects, line: number, faults: readonly RowFault[], row?: unknown) {
  rejects.count += 1;
  const errors = faults.map(({ field, code, message }) => rowFault(field, code, message));
  // Readable only by its owner, because it contains the data of leads.
  const options = { flag: "a", mode: 0o600 };
  await writeFile(rejects.path, `${JSON.stringify({ line, errors, row })}\n`, options).catch((error) => {
    throw new UserError(`${rejects.path} cannot be written: ${errorMessage(error)}`);
  });
}

/**
 * @param counts the number of valid rows, or of those with each outcome
 * @param first rows as they would be stored
 */
function printOutcomes(
  { account, json }: PacedAccountOptions,
  rows: number,
  counts: Readonly<Record<string, number>>,
  { path, count: rejected }: Rejects,
  first?: readonly object[],
): void {
  const all = { ...counts, rejected };
  const see = rejected > 0 ? ` See ${path}.` : "";
  const numbers = Object.entries(all).map(([outcome, count]) => `${count} ${outcome}`);
  console.log(
    json
      ? JSON.stringify({ account, rows, ...all, ...(rejected > 0 && { rejects: path }), first })
      : [
          `${rows} rows: ${numbers.join(", ")}.${see}`,
          ...(first ?? []).map((lead) => JSON.stringify(lead)),
        ].join("\n"),
  );
  if (rejected > 0) process.exitCode = someInvalid;
}
