import { writeFile } from "node:fs/promises";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { Command } from "commander";
import { leadItem } from "../../../shared/domain/leads.ts";
import { leadImportKey } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { maxIdAhead } from "../../../shared/ids.ts";
import { inParallel } from "../../../shared/in-parallel.ts";
import { errorMessage, UserError } from "../../user-error.ts";
import { command, type PacedAccountOptions } from "../command/command.ts";
import { selectPacedAccount } from "../command/known-account.ts";
import { storeOnce } from "../copy/copy-item.ts";
import { isErased, storeRows } from "../copy/store-rows.ts";
import { toText } from "../output/printed-text.ts";
import { someInvalid } from "../table/unreadable.ts";
import { type CsvFile, openCsvFile } from "./csv-file.ts";

/** How many rows are written concurrently. */
const parallel = 32;

/** `leads import`: stores the leads of a file, each of them once, no matter how often it runs. */
export const importCommand = (): Command =>
  command("import", "store the leads of a file; after a failure, run it again to continue", {
    paced: true,
    writes: true,
  })
    .argument("<file>", "a .csv file in UTF-8 whose first row names the columns")
    .addHelpText(
      "after",
      "\nInvalid rows are reported in <file>.rejected.jsonl. --dry-run checks the rows and needs no table.\nExit codes: 0 all rows are stored, 1 failure, 3 some rows are invalid.",
    )
    .action(importLeads);

async function importLeads(path: string, options: PacedAccountOptions): Promise<void> {
  const { account, dryRun } = options;
  const file = await openCsvFile(path);
  const rejects = { path: `${path}.rejected.jsonl`, count: 0 };
  const { count, digest } = file;
  if (dryRun) {
    for await (const _ of validLeads(file, rejects, Date.now()));
    return printOutcomes(options, count, { valid: count - rejects.count }, rejects);
  }
  const pace = await selectPacedAccount(options);
  const startedAt = await readImportStart(account, digest.toString("hex"), pace);
  const outcomes = { stored: 0, present: 0, erased: 0 };
  await storeRows(options, pace, {
    countStored: () => outcomes.stored + outcomes.present,
    store: (storing) =>
      inParallel(
        validLeads(file, rejects, startedAt),
        async (lead) => {
          const item = leadItem(account, lead);
          outcomes[isErased(storing, lead.id) ? "erased" : await storeOnce(storing, item)] += 1;
        },
        parallel,
      ),
  });
  const { stored: imported, present, erased } = outcomes;
  printOutcomes(options, count, { imported, present, erased }, rejects);
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

/** The leads of the valid rows. Invalid rows are written to the rejects. */
async function* validLeads(file: CsvFile, rejects: Rejects, startedAt: number) {
  // Its schemas take a quarter of the start of every command.
  const { rowToLead } = await import("./row-to-lead.ts");
  const { digest } = file;
  for await (const row of file.rows()) {
    const { line } = row;
    const checked =
      "fault" in row ? { faults: [row.fault] } : rowToLead(row.value, line, { digest, startedAt });
    if ("lead" in checked) yield checked.lead;
    else await reject(rejects, { line, errors: checked.faults, ...("value" in row && { row: row.value }) });
  }
}

/** The file of rejected rows, with one JSON object on each line. It is created with the first row. */
interface Rejects {
  readonly path: string;
  count: number;
}

/** @throws UserError when the file cannot be written */
async function reject(rejects: Rejects, row: object): Promise<void> {
  const flag = rejects.count === 0 ? "w" : "a";
  rejects.count += 1;
  // Readable only by its owner, because it contains the data of leads.
  await writeFile(rejects.path, `${JSON.stringify(row)}\n`, { flag, mode: 0o600 }).catch((error) => {
    throw new UserError(`${rejects.path} cannot be written: ${errorMessage(error)}`);
  });
}

/** @param counts the number of valid rows, or of those with each outcome */
function printOutcomes(
  { account, json }: PacedAccountOptions,
  rows: number,
  counts: Readonly<Record<string, number>>,
  { path, count: rejected }: Rejects,
): void {
  const all = { ...counts, rejected };
  const see = rejected > 0 ? ` See ${path}.` : "";
  const numbers = Object.entries(all).map(([outcome, count]) => `${count} ${outcome}`);
  console.log(
    json
      ? JSON.stringify({ account, rows, ...all, ...(rejected > 0 && { rejects: path }) })
      : `${rows} rows: ${numbers.join(", ")}.${see}`,
  );
  if (rejected > 0) process.exitCode = someInvalid;
}
