import { Command } from "commander";
import { createdAt, isId } from "../../../shared/ids.ts";
import { inColumns, onTable } from "../command/action.ts";
import { type AccountOptions, command } from "../command/command.ts";
import { readErasedLeads } from "../erasure/erased-leads.ts";
import { importsCommand } from "./imported-rows.ts";
import { eraseCommand } from "./leads-erase.ts";
import { exportCommand } from "./leads-export.ts";
import { importCommand } from "./leads-import.ts";
import { showCommand } from "./leads-show.ts";

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
