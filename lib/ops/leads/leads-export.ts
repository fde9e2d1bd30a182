import { pipeline } from "node:stream/promises";
import { type Command, Option } from "commander";
import { listPartition } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { inPartition, queryItems } from "../../../shared/dynamodb/read-pages.ts";
import { type Lead, leadStatuses } from "../../../shared/schemas/lead-schemas.ts";
import { storedName } from "../../../shared/stored-name.ts";
import { errorCode, UserError } from "../../errors.ts";
import { command, leftOutCodes, type PacedAccountOptions } from "../command/command.ts";
import { selectPacedAccounts } from "../command/known-account.ts";
import { writeOutput } from "../files/output-file.ts";
import { escapeLines } from "../output/printed-text.ts";
import { Unreadable } from "../table/unreadable.ts";
import { formatCsv, formatCsvHeader } from "./csv-cells.ts";

interface ExportOptions extends PacedAccountOptions {
  readonly format?: "csv" | "jsonl";
  readonly output?: string;
  readonly status?: Lead["status"];
  readonly source?: string;
}

/** `leads export`: writes the leads of an account to a file that `leads import` can read. */
export function exportCommand(): Command {
  return command("export", "write an account's leads, newest first, for `leads import`", { paced: true })
    .addOption(
      new Option("--format <format>", "csv or jsonl (default: the extension of --output, or csv)").choices([
        "csv",
        "jsonl",
      ]),
    )
    .option("--output <file>", "the file to write instead of stdout; --json then prints a summary")
    .addOption(new Option("--status <status>", "only leads with this status").choices(leadStatuses))
    .option("--source <source>", "only leads with this source")
    .addHelpText("after", leftOutCodes)
    .action(exportLeads);
}

async function exportLeads(options: ExportOptions): Promise<void> {
  const { account, output, json } = options;
  if (json && output === undefined)
    throw new UserError("--json needs --output, because stdout has the leads.");
  const pace = await selectPacedAccounts(options);
  const unreadable = new Unreadable();
  let exported = 0;
  const text = formatLeads(options, pace, unreadable, (rows) => {
    exported += rows;
  });
  await (output === undefined ? print(text) : writeOutput(text, output));
  if (output !== undefined)
    console.log(
      json
        ? JSON.stringify({ account, exported, output, unreadable: unreadable.size })
        : `Exported ${exported} leads.`,
    );
  unreadable.print();
}

async function print(text: AsyncIterable<string>): Promise<void> {
  await pipeline(text, process.stdout).catch((error) => {
    // The reader of stdout may stop early, as `head` does.
    if (errorCode(error) !== "EPIPE") throw error;
  });
}

async function* formatLeads(
  options: ExportOptions,
  pace: Pace,
  unreadable: Unreadable,
  onRows: (rows: number) => void,
): AsyncGenerator<string> {
  const { account, output, status } = options;
  const source = options.source && storedName(options.source);
  const { format = output?.endsWith(".jsonl") ? "jsonl" : "csv" } = options;
  // What a program reads is data.
  const forReader = (text: string) =>
    output === undefined && process.stdout.isTTY ? escapeLines(text.replaceAll("\r\n", "\n")) : text;
  if (format === "csv") yield forReader(formatCsvHeader());
  for await (const leads of readAllLeads(account, { status, source }, pace, unreadable)) {
    yield forReader(
      format === "csv" ? formatCsv(leads) : leads.map((lead) => `${JSON.stringify(lead)}\n`).join(""),
    );
    onRows(leads.length);
  }
}

/**
 * Reads all leads of the account in pages, newest first. Each page is read consistently. Every lead is read once,
 * except leads that are created or deleted in the meantime.
 *
 * @param filter the status and the source that the leads have; undefined for any
 * @param unreadable gets each item that an import would refuse
 */
export async function* readAllLeads(
  account: string,
  { status, source }: { readonly status?: string | undefined; readonly source?: string | undefined },
  pace: Pace,
  unreadable: Unreadable,
): AsyncGenerator<Lead[]> {
  // The schemas take a quarter of the start of every command.
  const { readStored } = await import("../table/stored-records.ts");
  const leads = { ...inPartition(listPartition("lead", account)), ScanIndexForward: false };
  for await (const items of queryItems(leads, pace))
    yield items
      .flatMap((item) => readStored("lead", item, unreadable) ?? [])
      .filter((lead) => (status ?? lead.status) === lead.status && (source ?? lead.source) === lead.source);
}
