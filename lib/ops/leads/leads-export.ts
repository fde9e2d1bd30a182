import type { Command } from "commander";
import { accountPartition } from "../../../shared/dynamodb/keys.ts";
import { inPartition, queryItems } from "../../../shared/dynamodb/read-pages.ts";
import { command, outputOption, type PacedAccountOptions } from "../command/command.ts";
import { selectPacedAccount } from "../command/known-account.ts";
import { writeOutput } from "../output/output-file.ts";
import { InvalidItems } from "../table/invalid-items.ts";
import { readStored } from "../table/valid-records.ts";
import { formatCsv, formatCsvHeader } from "./file/csv-cells.ts";

type ExportLeadsOptions = PacedAccountOptions & { readonly output: string };

/** `leads export`: writes the leads of an account to a CSV file that `leads import` can read. */
export const exportCommand = (): Command =>
  command("export", "write the leads of an account to a CSV file, newest first", { paced: true })
    .addOption(outputOption())
    .action(exportLeads);

async function exportLeads(options: ExportLeadsOptions): Promise<void> {
  const { account, output, json } = options;
  const pace = await selectPacedAccount(options);
  const invalid = new InvalidItems();
  let exported = 0;
  const text = async function* () {
    yield formatCsvHeader();
    const partition = { ...inPartition(accountPartition("lead", account)), ScanIndexForward: false };
    for await (const items of queryItems(partition, pace)) {
      // An import would refuse the others.
      const leads = items.flatMap((item) => readStored("lead", item, invalid) ?? []);
      yield formatCsv(leads);
      exported += leads.length;
    }
  };
  await writeOutput(text(), output);
  const summary = { account, exported, output, invalid: invalid.size };
  console.log(json ? JSON.stringify(summary) : `Exported ${exported} leads.`);
  invalid.print();
}
