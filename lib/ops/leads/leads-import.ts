import { unlink, writeFile } from "node:fs/promises";
import { type Command, InvalidArgumentError } from "commander";
import { ApiError } from "../../../shared/errors.ts";
import { inParallel } from "../../../shared/in-parallel.ts";
import { errorMessage, UserError } from "../../user-error.ts";
import { command, type PacedAccountOptions } from "../command/command.ts";
import { selectPacedAccount } from "../command/known-account.ts";
import { storeRows } from "../erasure/store-rows.ts";
import { someInvalid } from "../table/invalid-items.ts";
import { clockOf } from "./creation-time.ts";
import { columnsSentence, findColumn, type Mapped } from "./csv-header.ts";
import { type FileOptions, type LeadFile, openLeadFile } from "./lead-file.ts";
import { type RowFault, rowFault } from "./parse-csv.ts";
import { type Import, rowToLead } from "./row-to-lead.ts";
import { storeLead } from "./store-lead.ts";

/** How many rows are written concurrently. */
const leadsAtOnce = 32;

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
      "give the leads that rows name, by id, externalId or an address, their values; empty cells change nothing",
      false,
    )
    .addHelpText(
      "after",
      "\nInvalid rows are reported in <file>.rejected.jsonl. --dry-run checks the rows and needs no table.\nExit codes: 0 all rows are stored, 1 failure, 3 some rows are invalid.",
    )
    .action(importLeads);

/** Adds the options that tell how a file is read. */
const withFileOptions = (command: Command) =>
  command
    .option("--map <name=column>", "which column a column of the file is; repeatable", parseMapped, [])
    .option("--ignore-others", "leave out the columns that leads do not have", false)
    .option("--encoding <name>", "of a text that is not UTF-8 or UTF-16, such as windows-1252")
    .option("--time-zone <name>", "of dates and times without one, such as Europe/Berlin", parseTimeZone)
    .option("--null <text>", "what stands for an empty cell, such as NULL; repeatable", collect, [])
    .option("--tags-separator <text>", "what separates tags, in place of a semicolon");

const collect = (text: string, others: readonly string[]) => [...others, text];

function parseMapped(text: string, others: readonly Mapped[]): readonly Mapped[] {
  const end = text.lastIndexOf("=");
  const column = findColumn(text.slice(end + 1));
  if (end > 0 && column !== undefined) return [...others, { from: text.slice(0, end).trim(), column }];
  throw new InvalidArgumentError(`Write "<name in the file>=<column>". ${columnsSentence}`);
}

function parseTimeZone(text: string) {
  try {
    return clockOf(text);
  } catch {
    throw new InvalidArgumentError("It is one of the IANA database, such as Europe/Berlin.");
  }
}

type ImportOptions = PacedAccountOptions & FileOptions & { readonly update: boolean };

async function importLeads(path: string, options: ImportOptions): Promise<void> {
  const { dryRun, update } = options;
  const file = await openLeadFile(path, options);
  const rejects = { path: `${path}.rejected.jsonl`, count: 0, reasons: new Map<string, number>() };
  // Those of an earlier run.
  await unlink(rejects.path).catch(() => {});
  const context = { startedAt: Date.now(), update, lines: new Map(), equals: new Map() };
  const valid = validRows(file, rejects, context);
  if (dryRun) {
    const first: object[] = [];
    for await (const { lead } of valid) if (first.length < 3) first.push(lead);
    return printOutcomes(options, file, { valid: file.count - rejects.count }, rejects, first);
  }
  const pace = await selectPacedAccount(options);
  const outcomes = { stored: 0, updated: 0, present: 0, erased: 0 };
  await storeRows(options, pace, {
    countStored: () => outcomes.stored + outcomes.updated + outcomes.present,
    store: (storing) =>
      inParallel(
        valid,
        async (row) => {
          try {
            outcomes[await storeLead(storing, row, update)] += 1;
          } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            const { faults = [rowFault("", "not_allowed", `is not stored: ${error.message}`)] } =
              error.details;
            await rejectRow(rejects, row.line, faults, row.value);
          }
        },
        leadsAtOnce,
      ),
  });
  const { stored: imported, updated, present, erased } = outcomes;
  printOutcomes(options, file, { imported, ...(update && { updated }), present, erased }, rejects);
}

/** Reads the valid rows. Invalid rows are written to the rejects. */
async function* validRows(file: LeadFile, rejects: Rejects, context: Import) {
  let left = file.count;
  for await (const { line, value, fault } of file.rows()) {
    left -= 1;
    const checked = fault ? { faults: [fault] } : rowToLead(value, line, left, context);
    if ("lead" in checked) yield checked;
    else await rejectRow(rejects, line, checked.faults, value);
  }
}

/** The file of rejected rows, with one JSON object on each line. It is created with the first row. */
interface Rejects {
  readonly path: string;
  count: number;
  /** How many faults there are of each field and reason. */
  readonly reasons: Map<string, number>;
}

/** @throws UserError when the file cannot be written */
async function rejectRow(rejects: Rejects, line: number, faults: readonly RowFault[], row: unknown) {
  rejects.count += 1;
  const errors = faults.map(({ field, code, message }) => rowFault(field, code, message));
  for (const { field, message } of errors) {
    const reason = `${field.replace(/\[\d+\]/, "") || "The row"} ${message}`;
    rejects.reasons.set(reason, (rejects.reasons.get(reason) ?? 0) + 1);
  }
  // Readable only by its owner, because it contains the data of leads.
  const options = { flag: "a", mode: 0o600 };
  await writeFile(rejects.path, `${JSON.stringify({ line, errors, row })}\n`, options).catch((error) => {
    throw new UserError(`${rejects.path} cannot be written: ${errorMessage(error)}`);
  });
}

/**
 * @param counts the number of valid rows, or of those with each outcome
 * @param first leads as they would be stored
 */
function printOutcomes(
  { account, json }: PacedAccountOptions,
  { count: rows }: LeadFile,
  counts: Readonly<Record<string, number>>,
  { path, count: rejected, reasons }: Rejects,
  first: readonly object[] = [],
): void {
  const all = { ...counts, rejected };
  const see = rejected > 0 ? ` See ${path}.` : "";
  const numbers = Object.entries(all).map(([outcome, count]) => `${count} ${outcome}`);
  const commonest = [...reasons].sort(([, a], [, b]) => b - a).slice(0, 5);
  const lines = [
    ...first.map((lead) => JSON.stringify(lead)),
    `${rows} rows: ${numbers.join(", ")}.${see}`,
    ...commonest.map(([reason, count]) => `  ${count} times: ${reason}.`),
  ];
  const output = { account, rows, ...all, ...(rejected > 0 && { rejects: path }) };
  console.log(json ? JSON.stringify(first.length > 0 ? { ...output, first } : output) : lines.join("\n"));
  if (rejected > 0) process.exitCode = someInvalid;
}
