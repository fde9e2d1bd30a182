import { resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import type { Lead } from "../../../shared/schemas/lead-schemas.ts";
import { errorMessage, UserError } from "../../errors.ts";
import { type AccountOptions, accountCommand } from "../account-command.ts";
import { startProgress } from "../progress.ts";
import { selectTable } from "../select-table.ts";
import { paced } from "./for-each-at-rate.ts";
import { importedLead } from "./imported-lead.ts";
import { checkLead, type LeadInput } from "./lead-check.ts";
import { type LeadFile, openLeadFile } from "./lead-file.ts";
import { Rejects } from "./rejects-file.ts";

interface ImportOptions extends AccountOptions {
  readonly rejects?: string;
  readonly rate: number;
  readonly dryRun?: boolean;
}

/** What became of the rows. */
interface Outcome {
  readonly rows: number;
  /** How many were stored now; those that had been there before are `present`. */
  imported: number;
  present: number;
}

/** The exit code of an import that left rows out. */
const someRejected = 3;

/** How many rows are being written at once. */
const parallel = 32;

/** How long a row is tried for, in milliseconds, while the table is busy. */
const patience = 60_000;

/** `leads import`: stores the leads of a file, each once however often it is run. */
export function importCommand(): Command {
  return accountCommand("import", "store the leads of a file; run it again to go on after a failure")
    .argument("<file>", "a .csv file whose first row names the columns, or a .jsonl file; both in UTF-8")
    .option("--rejects <file>", "where rows that are not valid are told (default: <file>.rejected.jsonl)")
    .option("--rate <rows>", "how many rows are written in a second, at the most", rate, 500)
    .option("--dry-run", "check the rows and write none; needs no table")
    .addHelpText("after", "\nExit codes: 0 all rows are stored, 1 failed, 3 some rows are not valid.")
    .action(importLeads);
}

function rate(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError("A rate is a whole number above 0.");
  return Number(text);
}

async function importLeads(path: string, options: ImportOptions): Promise<void> {
  const rejectsPath = options.rejects ?? `${path}.rejected.jsonl`;
  if (resolve(rejectsPath) === resolve(path)) throw new UserError("--rejects names the file itself.");
  if (!options.dryRun) await selectTable(options);
  await using file = await openLeadFile(path);
  await using rejects = new Rejects(rejectsPath);
  const outcome: Outcome = { rows: file.count, imported: 0, present: 0 };
  const progress = startProgress(options.dryRun ? "Checking" : "Importing");
  progress.expect(file.count);
  try {
    if (options.dryRun) await check(file, rejects, progress.advance);
    else await store(options, file, rejects, outcome, progress.advance);
  } finally {
    progress.stop();
  }
  report(options, outcome, rejects);
}

async function check(file: LeadFile, rejects: Rejects, advance: (rows: number) => void): Promise<void> {
  for await (const _ of validRows(file, rejects, Date.now(), advance)) advance(1);
}

async function store(
  { account, rate }: ImportOptions,
  file: LeadFile,
  rejects: Rejects,
  outcome: Outcome,
  advance: (rows: number) => void,
): Promise<void> {
  // Imported only here, because they selectTable to the table that `selectTable` has chosen.
  const [{ addLead }, { startOfImport }, { isTableBusy }, { withRetry }] = await Promise.all([
    import("../../../shared/domain/leads.ts"),
    import("./import-start.ts"),
    import("../../../shared/dynamodb/dynamodb-errors.ts"),
    import("../../../shared/dynamodb/retry.ts"),
  ]);
  const startedAt = await startOfImport(account, file.digest.toString("hex"));
  const add = async (lead: Lead) => {
    const added = await withRetry(() => addLead(account, lead, true), {
      deadline: Date.now() + patience,
      isRetryable: isTableBusy,
    });
    outcome[added ? "imported" : "present"] += 1;
    advance(1);
  };
  try {
    await paced(validRows(file, rejects, startedAt, advance), { rate, parallel }, ({ line, input }) =>
      add(importedLead(input, line, { digest: file.digest, startedAt })),
    );
  } catch (cause) {
    const { imported, present } = outcome;
    throw new UserError(
      `Stopped after ${imported + present} rows: ${errorMessage(cause)} Run the same command again to go on.`,
      { cause },
    );
  }
}

/** The rows that are valid; the others go to the rejects. */
async function* validRows(
  file: LeadFile,
  rejects: Rejects,
  now: number,
  advance: (rows: number) => void,
): AsyncGenerator<{ line: number; input: LeadInput }> {
  for await (const row of file.rows()) {
    const { line } = row;
    const checked = "fault" in row ? { faults: [row.fault] } : checkLead(row.value, now);
    if ("input" in checked) {
      yield { line, input: checked.input };
      continue;
    }
    await rejects.add({ line, errors: checked.faults, ...("value" in row && { row: row.value }) });
    advance(1);
  }
}

function report({ account, dryRun, json }: ImportOptions, outcome: Outcome, rejects: Rejects): void {
  const { rows, imported, present } = outcome;
  const rejected = rejects.count;
  const told = rejected > 0 ? { rejects: rejects.path } : {};
  const done = dryRun ? { valid: rows - rejected } : { imported, present };
  if (json) console.log(JSON.stringify({ account, rows, ...done, rejected, ...told }));
  else {
    const sentence = dryRun
      ? `Of ${rows} rows ${rows - rejected} are valid and ${rejected} are not.`
      : `Of ${rows} rows ${imported} are imported, ${present} were there before and ${rejected} are not valid.`;
    console.log(rejected > 0 ? `${sentence} ${rejects.path} says why.` : sentence);
  }
  if (rejected > 0) process.exitCode = someRejected;
}
