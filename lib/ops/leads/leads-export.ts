import { accountPartition } from "../../../shared/dynamodb/keys.ts";
import { inPartition, queryItems } from "../../../shared/dynamodb/read-pages.ts";
import { onAccount, type Tools } from "../command/action.ts";
import { command, type OutputOptions, outputOption } from "../command/command.ts";
import { writeOutput } from "../output/output-file.ts";
import { readStored } from "../table/valid-records.ts";
import { formatCsv, formatCsvHeader } from "./file/csv-cells.ts";

/** `leads export`: writes the leads of an account to a CSV file that `leads import` can read. */
export const exportCommand = () =>
  command("export", "write the leads of an account to a CSV file, newest first", { paced: true })
    .requiredOption(...outputOption)
    .action(onAccount(exportLeads));

async function exportLeads({ account, output }: OutputOptions, { pace, invalid }: Tools) {
  let exported = 0;
  const rows = async function* () {
    yield formatCsvHeader();
    const partition = { ...inPartition(accountPartition("lead", account)), ScanIndexForward: false };
    for await (const items of queryItems(partition, pace)) {
      const leads = items.flatMap((item) => readStored("lead", item, invalid) ?? []);
      yield formatCsv(leads);
      exported += leads.length;
    }
  };
  await writeOutput(rows(), output);
  const json = { account, exported, output, invalid: invalid.size };
  return { json, text: `Exported ${exported} leads.` };
}
