import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { Command } from "commander";
import { leadItem } from "../../../shared/domain/leads.ts";
import { leadImportKey } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { limits } from "../../../shared/pages/tree/tree-limits.ts";
import { errorMessage, UserError } from "../../errors.ts";
import { command, type PacedAccountOptions } from "../command/command.ts";
import { selectPacedAccounts } from "../command/known-account.ts";
import { storeOnce } from "../copy/copy-item.ts";
import { isErased, storeRows, suggestVerify } from "../copy/store-rows.ts";
import { parseJsonLines } from "../files/jsonl-rows.ts";
import type { RowFault } from "../files/row.ts";
import { openRowFile, type RowFile } from "../files/row-file.ts";
import { toText } from "../output/printed-text.ts";
import { forEach } from "../table/for-each.ts";
import { someInvalid } from "../table/unreadable.ts";
import { parseCsv } from "./csv-rows.ts";

interface ImportOptions extends PacedAccountOptions {
  readonly rejects?: string;
}

/** How many rows are written concurrently. */
const parallel = 32;

/** `leads import`: stores the leads of a file, each of them once, no matter how often it runs. */
export const importCommand = (): Command =>
  command("import", "store the leads of a file; after a failure, run it again to continue", {
    paced: true,
    writes: true,
  })
    .argument("<file>", "a .csv file whose first row names the columns, or a .jsonl file; both in UTF-8")
    .option("--rejects <file>", "where invalid rows are reported (default: <file>.rejected.jsonl)")
    .addHelpText(
      "after",
      "\n--dry-run checks the rows and needs no table.\nExit codes: 0 all rows are stored, 1 failure, 3 some rows are invalid.",
    )
    .action(importLeads);

async function importLeads(path: string, options: ImportOptions): Promise<void> {
  const { account, rejects: rejectsPath = `${path}.rejected.jsonl`, dryRun } = options;
  if (resolve(rejectsPath) === resolve(path)) throw new UserError("--rejects names the imported file.");
  const file = await openRowFile(path, { ".csv": parseCsv, ".jsonl": parseJsonLines });
  const rejects = new RejectsFile(rejectsPath);
  const { count, digest } = file;
  if (dryRun) {
    for await (const _ of validLeads(file, rejects, Date.now()));
    return printOutcomes(options, count, { valid: count - rejects.count }, rejects);
  }
  const pace = await selectPacedAccounts(options);
  const startedAt = await readImportStart(account, digest.toString("hex"), pace);
  const outcomes = { stored: 0, present: 0, erased: 0 };
  await storeRows(options, pace, {
    countStored: () => outcomes.stored + outcomes.present,
    store: (storing) =>
      forEach(validLeads(file, rejects, startedAt), parallel, async (lead) => {
        const item = leadItem(account, lead);
        outcomes[isErased(storing, lead.id) ? "erased" : await storeOnce(storing, item)] += 1;
      }),
  });
  const { stored: imported, present, erased } = outcomes;
  printOutcomes(options, count, { imported, present, erased }, rejects);
  if (!options.json && imported > 0) suggestVerify(options);
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
  if (startedAt >= 0 && startedAt <= Date.now() + limits.skew) return startedAt;
  throw new UserError(
    `When the first import of the file started cannot be read: delete the item ${command.input.Key?.pk} ${sha256} in the table.`,
  );
}

/** The leads of the valid rows. Invalid rows are written to the rejects. */
async function* validLeads(file: RowFile, rejects: RejectsFile, startedAt: number) {
  // Its schemas take a quarter of the start of every command.
  const { rowToLead } = await import("./row-to-lead.ts");
  const { digest } = file;
  for await (const row of file.rows()) {
    const { line } = row;
    const checked =
      "fault" in row ? { faults: [row.fault] } : rowToLead(row.value, line, { digest, startedAt });
    if ("lead" in checked) yield checked.lead;
    else await rejects.add({ line, errors: checked.faults, ...("value" in row && { row: row.value }) });
  }
}

/** The file of rejected rows, with one JSON object on each line. It is created with the first row. */
class RejectsFile {
  readonly path: string;
  count = 0;

  constructor(path: string) {
    this.path = path;
  }

  /** @throws UserError when the file cannot be written */
  async add(reject: { line: number; errors: readonly RowFault[]; row?: unknown }): Promise<void> {
    const flag = this.count === 0 ? "w" : "a";
    this.count += 1;
    // Readable only by its owner, because it contains the data of leads.
    await writeFile(this.path, `${JSON.stringify(reject)}\n`, { flag, mode: 0o600 }).catch((error) => {
      throw new UserError(`${this.path} cannot be written: ${errorMessage(error)}`);
    });
  }
}

/** The numbers of valid rows, or of those with each outcome. */
type Counts = Partial<Record<"valid" | "imported" | "present" | "erased", number>>;

function printOutcomes(
  { account, json }: ImportOptions,
  rows: number,
  counts: Counts,
  rejects: RejectsFile,
): void {
  const { count: rejected, path } = rejects;
  const { valid, imported, present, erased = 0 } = counts;
  if (json) {
    console.log(
      JSON.stringify({ account, rows, ...counts, rejected, ...(rejected > 0 && { rejects: path }) }),
    );
  } else {
    const skipped = erased > 0 ? `${erased} of erased leads, ` : "";
    const stored =
      valid === undefined ? `${imported} imported, ${present} already imported` : `${valid} valid`;
    console.log(
      `${rows} rows: ${stored}, ${skipped}${rejected} invalid.${rejected > 0 ? ` See ${path}.` : ""}`,
    );
  }
  if (rejected > 0) process.exitCode = someInvalid;
}
