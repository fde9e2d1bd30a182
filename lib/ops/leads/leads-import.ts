import { resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { type Command, InvalidArgumentError } from "commander";
import { ulid } from "ulid";
import { storedName } from "../../../shared/domain/stored-name.ts";
import { leadImportKey } from "../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { limits } from "../../../shared/pages/tree/tree-limits.ts";
import { UserError } from "../../errors.ts";
import { openRowFile, type RowFile } from "../archive/row-file.ts";
import { toPartialFailure } from "../common/aws-errors.ts";
import { forEachAtRate } from "../common/for-each-at-rate.ts";
import { type AccountOptions, selectTableByOptions, writingCommand } from "../common/options.ts";
import { Pace, type Wait } from "../common/pace.ts";
import { type OnRows, withProgress } from "../common/progress.ts";
import { countSources } from "../counts/count-imported.ts";
import { readErasedIds } from "../erasure/erased-leads.ts";
import { sweepErasedSince } from "../erasure/sweep-erased.ts";
import { importRow } from "./import-row.ts";
import { RejectsFile } from "./rejects-file.ts";

interface ImportOptions extends AccountOptions {
  readonly rejects?: string;
  readonly rate: number;
}

/** The exit code of an import with invalid rows. */
const someRejected = 3;

/** How many rows are written concurrently. */
const parallel = 32;

/** `leads import`: stores the leads of a file, each of them once, no matter how often it runs. */
export function importCommand(wait: Wait = setTimeout): Command {
  return writingCommand("import", "store the leads of a file; after a failure, run it again to continue")
    .argument("<file>", "a .csv file whose first row names the columns, or a .jsonl file; both in UTF-8")
    .option("--rejects <file>", "where invalid rows are reported (default: <file>.rejected.jsonl)")
    .option("--rate <rows>", "the maximum number of rows to write per second", parseRate, 500)
    .addHelpText(
      "after",
      "\n--dry-run checks the rows and needs no table.\nExit codes: 0 all rows are stored, 1 failure, 3 some rows are invalid.",
    )
    .action((path: string, options: ImportOptions) => importLeads(path, options, wait));
}

/** The value of `--rate`. */
export function parseRate(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError("A rate is a whole number above 0.");
  return Number(text);
}

async function importLeads(path: string, options: ImportOptions, wait: Wait): Promise<void> {
  const { account, json, rejects: rejectsPath = `${path}.rejected.jsonl`, dryRun } = options;
  if (resolve(rejectsPath) === resolve(path)) throw new UserError("--rejects names the imported file.");
  if (!dryRun) await selectTableByOptions(options);
  await using file = await openRowFile(path);
  await using rejects = new RejectsFile(rejectsPath);
  const outcome = await withProgress(
    dryRun ? "Checking" : "Importing",
    () => file.count,
    (onRows) => importRows(options, file, rejects, { onRows, wait }),
  );
  report(options, file.count, outcome, rejects);
  const { imported, present, sources } = outcome;
  if (imported + present <= limits.sublistRows) return;
  const writtenAt = imported > 0 ? Date.now() : 0;
  await countSources(account, sources, { writtenAt, wait, print: json ? () => {} : console.log });
}

/** Stores the valid rows. @returns how many were imported now, and how many were already stored */
async function importRows(
  { account, rate, dryRun }: ImportOptions,
  file: RowFile,
  rejects: RejectsFile,
  { onRows, wait }: { readonly onRows: OnRows; readonly wait: Wait },
) {
  const { digest } = file;
  const outcome = { imported: 0, present: 0, erased: 0, sources: new Map<string, number>() };
  const runId = ulid();
  const startedAt = dryRun ? Date.now() : await readImportStart(account, digest.toString("hex"));
  const rows = validRows(file, rejects, startedAt, onRows);
  if (dryRun) {
    for await (const _ of rows);
    return outcome;
  }
  const pace = new Pace();
  const erased = await readErasedIds(account, pace);
  const unmet = new Set(erased);
  try {
    await forEachAtRate(rows, { rate, parallel }, async ({ line, input }) => {
      const source = input.source && storedName(input.source);
      const fileImport = { account, digest, startedAt, runId, erased, unmet };
      const rowOutcome = await importRow(fileImport, line, { ...input, source });
      outcome[rowOutcome] += 1;
      if (source !== undefined && rowOutcome !== "erased")
        outcome.sources.set(source, (outcome.sources.get(source) ?? 0) + 1);
    });
    await sweepErasedSince(account, unmet, { pace, wait });
  } catch (error) {
    // For whoever does not run it again. The first error is the one to report.
    await sweepErasedSince(account, unmet, { pace, wait }).catch(() => {});
    const stored = outcome.imported + outcome.present;
    throw await toPartialFailure(
      error,
      (reason) => `Stopped after ${stored} rows: ${reason} Run the same command again to continue.`,
    );
  }
  return outcome;
}

/**
 * Reads the start of the first import of a file into the account, or records that it starts now.
 *
 * @param sha256 of the file's bytes, in hexadecimal
 * @returns milliseconds since the epoch
 */
async function readImportStart(account: string, sha256: string): Promise<number> {
  const { Attributes } = await table.send(
    new UpdateCommand({
      TableName: tableName,
      Key: leadImportKey(account, sha256),
      UpdateExpression: "SET startedAt = if_not_exists(startedAt, :now)",
      ExpressionAttributeValues: { ":now": new Date().toISOString() },
      ReturnValues: "ALL_NEW",
    }),
  );
  return Date.parse(String(Attributes?.startedAt));
}

/** The valid rows of the file. Invalid rows are written to the rejects. A row is done when the next one is read. */
async function* validRows(file: RowFile, rejects: RejectsFile, now: number, onRows: OnRows) {
  // Its schemas take a quarter of the start of every command.
  const { checkLead } = await import("./lead-check.ts");
  for await (const row of file.rows()) {
    const { line } = row;
    const checked = "fault" in row ? { faults: [row.fault] } : checkLead(row.value, now);
    if ("input" in checked) yield { line, input: checked.input };
    else await rejects.add({ line, errors: checked.faults, ...("value" in row && { row: row.value }) });
    onRows(1);
  }
}

function report(
  { account, dryRun, json }: ImportOptions,
  rows: number,
  { imported, present, erased }: { imported: number; present: number; erased: number },
  rejects: RejectsFile,
): void {
  const rejected = rejects.count;
  if (json) {
    const counts = dryRun ? { valid: rows - rejected } : { imported, present, erased };
    const rejectsPath = rejected > 0 ? { rejects: rejects.path } : {};
    console.log(JSON.stringify({ account, rows, ...counts, rejected, ...rejectsPath }));
  } else {
    const skipped = erased > 0 ? `${erased} of erased leads, ` : "";
    const sentence = dryRun
      ? `${rows} rows: ${rows - rejected} valid, ${rejected} invalid.`
      : `${rows} rows: ${imported} imported, ${present} already imported, ${skipped}${rejected} invalid.`;
    console.log(rejected > 0 ? `${sentence} See ${rejects.path}.` : sentence);
  }
  if (rejected > 0) process.exitCode = someRejected;
}
