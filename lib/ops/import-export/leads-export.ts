import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Command, Option } from "commander";
import { stringify } from "csv-stringify/sync";
import { type Lead, leadStatuses } from "../../../shared/schemas/lead-schemas.ts";
import { errorCode, UserError } from "../../errors.ts";
import { type AccountOptions, accountCommand } from "../account-command.ts";
import { startProgress } from "../progress.ts";
import { selectTable } from "../select-table.ts";
import { columns, toCells } from "./csv-cells.ts";

interface ExportOptions extends AccountOptions {
  readonly format?: "csv" | "jsonl";
  readonly output?: string;
  readonly oldestFirst?: boolean;
  readonly status?: Lead["status"];
  readonly source?: string;
  readonly escapeFormulas?: boolean;
}

/** `leads export`: writes an account's leads as a file that `leads import` takes. */
export function exportCommand(): Command {
  return accountCommand("export", "write an account's leads, newest first, as `leads import` reads them")
    .addOption(
      new Option("--format <format>", "csv or jsonl (default: what --output ends in, or csv)").choices([
        "csv",
        "jsonl",
      ]),
    )
    .option("--output <file>", "where to write, instead of stdout; --json then prints a summary")
    .option("--oldest-first", "begin with the oldest lead")
    .addOption(new Option("--status <status>", "only leads of this status").choices(leadStatuses))
    .option("--source <source>", "only leads of this source")
    .option(
      "--escape-formulas",
      "for spreadsheets: put a ' before cells of a .csv that they would run; such a file is not to be imported",
    )
    .action(exportLeads);
}

async function exportLeads(options: ExportOptions): Promise<void> {
  const { account, output, json } = options;
  if (json && output === undefined) throw new UserError("--json needs --output: stdout has the leads.");
  await selectTable(options);
  const progress = startProgress("Exporting");
  let exported = 0;
  const onRows = (rows: number) => {
    exported += rows;
    progress.advance(rows);
  };
  try {
    if (process.stderr.isTTY) progress.expect(await countLeads(options));
    await write(options, onRows);
  } finally {
    progress.stop();
  }
  if (output === undefined) return;
  console.log(json ? JSON.stringify({ account, exported, output }) : `Exported ${exported} leads.`);
}

/** A file has its name once it is whole. */
async function write(options: ExportOptions, onRows: (rows: number) => void): Promise<void> {
  const { output } = options;
  const text = Readable.from(formatLeads(options, onRows));
  if (output === undefined) {
    return pipeline(text, process.stdout).catch((error) => {
      // Whoever reads stdout may stop, as `head` does.
      if (errorCode(error) !== "EPIPE") throw error;
    });
  }
  const part = `${output}.part`;
  try {
    await pipeline(text, createWriteStream(part, { mode: 0o600, flush: true }));
    await rename(part, output);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function* formatLeads(options: ExportOptions, onRows: (rows: number) => void): AsyncGenerator<string> {
  const { account, output, status, source, oldestFirst = false, escapeFormulas = false } = options;
  const { format = output?.endsWith(".jsonl") ? "jsonl" : "csv" } = options;
  const csv = (rows: readonly (readonly string[])[]) =>
    stringify([...rows], { escape_formulas: escapeFormulas, record_delimiter: "windows" });
  // Imported only here, because it connects to the table that `selectTable` has chosen.
  const { allLeads } = await import("./all-leads.ts");
  if (format === "csv") yield csv([columns]);
  for await (const leads of allLeads(account, { status, source }, oldestFirst)) {
    yield format === "csv"
      ? csv(leads.map(toCells))
      : leads.map((lead) => `${JSON.stringify(lead)}\n`).join("");
    onRows(leads.length);
  }
}

async function countLeads({ account, status, source }: ExportOptions): Promise<number> {
  const { listLeads } = await import("../../../shared/domain/leads.ts");
  const filter = { ...(status !== undefined && { status }), ...(source !== undefined && { source }) };
  const { pagination } = await listLeads(account, filter, { page: 1, limit: 1 });
  return pagination.total;
}
