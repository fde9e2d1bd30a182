import { Command } from "commander";
import { formatColumns } from "../output/columns.ts";
import {
  allAccountsCommand,
  leftOutCodes,
  type PacedOptions,
  selectPacedTable,
  unitsOption,
} from "../command/command.ts";
import { Unreadable } from "../table/unreadable.ts";
import { countAccounts, describeCounts } from "./account-items.ts";
import { setLimitCommand, showLimitCommand, unsetLimitCommand } from "./accounts-limit.ts";
import { copyAccountCommand } from "./accounts-copy.ts";
import { eraseAccountCommand } from "./accounts-erase.ts";
import { exportAccountCommand } from "./accounts-export.ts";

/** `accounts …`: everything of an account, and its rate limit. */
export const accountsCommand = (): Command =>
  new Command("accounts")
    .description("list accounts, copy, export or erase everything of one, and set its rate limit")
    .addCommand(
      allAccountsCommand("list", "list all accounts with the number of their items; reads the whole table")
        .addOption(unitsOption())
        .addHelpText("after", leftOutCodes)
        .action(listAccounts),
    )
    .addCommand(exportAccountCommand())
    .addCommand(copyAccountCommand())
    .addCommand(eraseAccountCommand())
    .addCommand(setLimitCommand())
    .addCommand(unsetLimitCommand())
    .addCommand(showLimitCommand());

async function listAccounts(options: PacedOptions): Promise<void> {
  const unreadable = new Unreadable();
  const accounts = await countAccounts(await selectPacedTable(options), unreadable.note);
  const rows = [...accounts].map(([account, counts]) => ({ account, ...describeCounts(counts) }));
  if (options.json) console.log(JSON.stringify(rows));
  else if (rows.length === 0) console.log("The table has no accounts.");
  else console.log(formatColumns(rows));
  unreadable.report();
}
