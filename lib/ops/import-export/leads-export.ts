import { open, rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { type Command, Option } from "commander";
import { stringify } from "csv-stringify/sync";
import { listLeads } from "../../../shared/domain/leads.ts";
import { type Lead, leadStatuses } from "../../../shared/schemas/lead-schemas.ts";
import { errorCode, errorMessage, UserError } from "../../errors.ts";
import { type AccountOptions, accountCommand, selectTableByOptions } from "../account-command.ts";
import { type OnRows, withProgress } from "../progress.ts";
import { readAllLeads } from "./all-leads.ts";
import { columns, toCells } from "./csv-cells.ts";

interface ExportOptions extends AccountOptions {
  readonly format?: "csv" | "jsonl";
  readonly output?: string;
  readonly oldestFirst?: boolean;
  readonly status?: Lead["status"];
  readonly source?: string;
  readonly escapeFormulas?: boolean;
}

/** `leads export`: writes the leads of an account to a file that `leads import` can read. */
export function exportCommand(): Command {
  return accountCommand("export", "write an account's leads, newest first, for `leads import`")
    .addOption(
      new Option("--format <format>", "csv or jsonl (default: the extension of --output, or csv)").choices([
        "csv",
        "jsonl",
      ]),
    )
    .option("--output <file>", "the file to write instead of stdout; --json then prints a summary")
    .option("--oldest-first", "start with the oldest lead")
    .addOption(new Option("--status <status>", "only leads with this status").choices(leadStatuses))
    .option("--source <source>", "only leads with this source")
    .option(
      "--escape-formulas",
      "for spreadsheets: put a ' before CSV cells that are formulas; do not import such a file",
    )
    .action(exportLeads);
}

async function exportLeads(options: ExportOptions): Promise<void> {
  const { account, output, json } = options;
  if (json && output === undefined)
    throw new UserError("--json needs --output, because stdout has the leads.");
  await selectTableByOptions(options);
  let exported = 0;
  await withProgress(
    "Exporting",
    () => countLeads(options),
    (onRows) => {
      const text = formatLeads(options, (rows) => {
        exported += rows;
        onRows(rows);
      });
      return output === undefined ? print(text) : write(text, output);
    },
  );
  if (output === undefined) return;
  console.log(json ? JSON.stringify({ account, exported, output }) : `Exported ${exported} leads.`);
}

async function print(text: AsyncIterable<string>): Promise<void> {
  await pipeline(text, process.stdout).catch((error) => {
    // The reader of stdout may stop early, as `head` does.
    if (errorCode(error) !== "EPIPE") throw error;
  });
}

/** Writes to a temporary file, which is renamed when it is complete. */
async function write(text: AsyncIterable<string>, output: string): Promise<void> {
  const toUserError = (error: unknown) => {
    throw new UserError(`${output} cannot be written: ${errorMessage(error)}`);
  };
  const part = `${output}.part`;
  await using file = await open(part, "w", 0o600).catch(toUserError);
  try {
    for await (const chunk of text) await file.appendFile(chunk).catch(toUserError);
    await file.sync().catch(toUserError);
    await rename(part, output).catch(toUserError);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function* formatLeads(options: ExportOptions, onRows: OnRows): AsyncGenerator<string> {
  const { account, output, status, source, oldestFirst = false, escapeFormulas = false } = options;
  const { format = output?.endsWith(".jsonl") ? "jsonl" : "csv" } = options;
  const csv = (rows: readonly (readonly string[])[]) =>
    stringify([...rows], { escape_formulas: escapeFormulas, record_delimiter: "windows" });
  if (format === "csv") yield csv([columns]);
  for await (const leads of readAllLeads(account, { status, source }, oldestFirst)) {
    yield format === "csv"
      ? csv(leads.map(toCells))
      : leads.map((lead) => `${JSON.stringify(lead)}\n`).join("");
    onRows(leads.length);
  }
}

async function countLeads({ account, status, source }: ExportOptions): Promise<number> {
  const { pagination } = await listLeads(account, { status, source }, { page: 1, limit: 1 });
  return pagination.total;
}
