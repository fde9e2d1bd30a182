import { Command } from "commander";
import { createdAt, isId } from "../../../shared/ids.ts";
import { command, type PacedAccountOptions } from "../command/command.ts";
import { selectPacedTable } from "../command/select-table.ts";
import { readErasedLeads } from "../erasure/erased-leads.ts";
import { formatColumns } from "../output/columns.ts";
import { InvalidItems } from "../table/invalid-items.ts";
import { importsCommand } from "./imported-rows.ts";
import { eraseCommand } from "./leads-erase.ts";
import { exportCommand } from "./leads-export.ts";
import { importCommand } from "./leads-import.ts";
import { showCommand } from "./leads-show.ts";

/** `leads import|imports|export|show|erase|erased`: the leads of an account. */
export const leadsCommand = (): Command =>
  new Command("leads")
    .description("import, export, show and erase the leads of an account")
    .addCommand(importCommand())
    .addCommand(importsCommand())
    .addCommand(exportCommand())
    .addCommand(showCommand())
    .addCommand(eraseCommand())
    .addCommand(command("erased", "list the ids of erased leads", { paced: true }).action(listErased));

/** Which leads were erased, for example to erase them again in a restored table. */
async function listErased(options: PacedAccountOptions): Promise<void> {
  const pace = await selectPacedTable(options);
  const { account, json } = options;
  const invalid = new InvalidItems();
  const leads = await readErasedLeads(account, pace, invalid);
  const erased = leads.map(({ id, leadId, pending = false }) => ({
    leadId,
    erasedAt: isId("erasure", id) ? createdAt(id) : undefined,
    pending,
  }));
  if (json) console.log(JSON.stringify(erased));
  else if (erased.length === 0) console.log(`The account ${account} has no erased leads.`);
  else console.log(formatColumns(erased));
  invalid.print();
}
