import { Command } from "commander";
import { accountPartition } from "../../../shared/dynamodb/keys.ts";
import { inPartition, queryItems } from "../../../shared/dynamodb/read-pages.ts";
import { createdAt, isId } from "../../../shared/ids.ts";
import { inColumns, onAccount, onTable } from "../command/action.ts";
import { type AccountOptions, command, type OutputOptions, outputOption } from "../command/command.ts";
import { readErasedLeads } from "../erasure/erased-leads.ts";
import { writeOutput } from "../output/output-file.ts";
import { readStored } from "../table/valid-records.ts";
import { formatCsv } from "./file/csv-cells.ts";
import { eraseCommand } from "./leads-erase.ts";
import { importCommand } from "./leads-import.ts";
import { showCommand } from "./leads-show.ts";
import { readImportedRows } from "./undo-import.ts";

/** `leads import|imports|export|show|erase|erased`: the leads of an account. */
export const leadsCommand = () =>
  new Command("leads")
    .description("import, export, show and erase the leads of an account")
    .addCommand(importCommand())
    .addCommand(importsCommand())
    .addCommand(exportCommand())
    .addCommand(showCommand())
    .addCommand(eraseCommand())
    .addCommand(erasedCommand());

/** `leads imports`: the imports of an account, newest first. */
const importsCommand = () =>
  command("imports", "list the imports, each with the number of its leads that are not erased", {
    paced: true,
  }).action(
    onAccount<AccountOptions>(async ({ account }, { pace, invalid }) => {
      const counts = new Map<string, number>();
      for await (const { importId } of readImportedRows(account, pace, invalid))
        counts.set(importId, (counts.get(importId) ?? 0) + 1);
      const imports = [...counts]
        .sort(([a], [b]) => (a < b ? 1 : -1))
        .map(([importId, leads]) => ({ importId, startedAt: createdAt(importId), leads }));
      return inColumns(imports, `The account ${account} has no imports.`);
    }),
  );

/** `leads export`: writes the leads of an account to a CSV file that `leads import` can read. */
const exportCommand = () =>
  command("export", "write the leads of an account to a CSV file, newest first", { paced: true })
    .requiredOption(...outputOption)
    .action(
      onAccount<OutputOptions>(async ({ account, output }, { pace, invalid }) => {
        let exported = 0;
        const rows = async function* () {
          yield formatCsv([], true);
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
      }),
    );

/** `leads erased`: which leads were erased, for example to erase them again in a restored table. */
const erasedCommand = () =>
  command("erased", "list the ids of erased leads", { paced: true }).action(
    onTable<AccountOptions>(async ({ account }, { pace, invalid }) => {
      const leads = await readErasedLeads(account, pace, invalid);
      const erased = leads.map(({ id, leadId, pending = false }) => ({
        leadId,
        erasedAt: isId("erasure", id) ? createdAt(id) : undefined,
        pending,
      }));
      return inColumns(erased, `The account ${account} has no erased leads.`);
    }),
  );
