import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import { listPartition } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { inPartition, queryItems } from "../../../shared/dynamodb/read-pages.ts";
import type { Lead } from "../../../shared/schemas/lead-schemas.ts";
import { errorCode, UserError } from "../../user-error.ts";
import { command, leftOutCodes, type PacedAccountOptions, parseOutput } from "../command/command.ts";
import { selectPacedAccount } from "../command/known-account.ts";
import { writeOutput } from "../output/output-file.ts";
import { escapeLines } from "../output/printed-text.ts";
import { Unreadable } from "../table/unreadable.ts";
import { formatCsv, formatCsvHeader } from "./csv-cells.ts";

interface ExportOptions extends PacedAccountOptions {
  readonly output?: string;
}

/** `leads export`: writes the leads of an account to a CSV file that `leads import` can read. */
export function exportCommand(): Command {
  return command(
    "export",
    "write an account's leads as CSV, newest first, for spreadsheets and `leads import`",
    { paced: true },
  )
    .option(
      "--output <file>",
      "the .csv file to write instead of stdout; --json then prints a summary",
      parseOutput(".csv"),
    )
    .addHelpText("after", leftOutCodes)
    .action(exportLeads);
}

async function exportLeads(options: ExportOptions): Promise<void> {
  const { account, output, json } = options;
  if (json && output === undefined)
    throw new UserError("--json needs --output, because stdout has the leads.");
  const pace = await selectPacedAccount(options);
  const unreadable = new Unreadable();
  // What a program reads is data.
  const forReader = (text: string) =>
    output === undefined && process.stdout.isTTY ? escapeLines(text.replaceAll("\r\n", "\n")) : text;
  let exported = 0;
  const text = async function* () {
    yield forReader(formatCsvHeader());
    for await (const leads of readAllLeads(account, pace, unreadable)) {
      yield forReader(formatCsv(leads));
      exported += leads.length;
    }
  };
  await (output === undefined ? print(text()) : writeOutput(text(), output));
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

/**
 * Reads all leads of the account in pages, newest first. Each page is read consistently. Every lead is read once,
 * except leads that are created or deleted in the meantime.
 *
 * @param unreadable gets each item that an import would refuse
 */
export async function* readAllLeads(
  account: string,
  pace: Pace,
  unreadable: Unreadable,
): AsyncGenerator<Lead[]> {
  // The schemas take a quarter of the start of every command.
  const { readStored } = await import("../table/stored-records.ts");
  const leads = { ...inPartition(listPartition("lead", account)), ScanIndexForward: false };
  for await (const items of queryItems(leads, pace))
    yield items.flatMap((item) => readStored("lead", item, unreadable) ?? []);
}
