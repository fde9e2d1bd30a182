import { Command } from "commander";
import type { Wait } from "../../../shared/dynamodb/pace.ts";
import { exportAccountCommand } from "../archive/accounts-export.ts";
import { importAccountCommand } from "../archive/accounts-import.ts";
import { formatColumns } from "../common/columns.ts";
import {
  allAccountsCommand,
  leftOutCodes,
  type PacedOptions,
  selectPacedTable,
  unitsOption,
} from "../common/options.ts";
import { Unreadable } from "../common/unreadable.ts";
import { eraseAccountCommand } from "../erasure/accounts-erase.ts";
import { countAccounts, describeCounts } from "./account-items.ts";
import { setLimitCommand, showLimitCommand, unsetLimitCommand } from "./account-limit.ts";

/** `accounts …`: everything of an account, and its rate limit. */
export const accountsCommand = (wait?: Wait): Command =>
  new Command("accounts")
    .description("list accounts, move or erase everything of one, and set its rate limit")
    .addCommand(
      allAccountsCommand("list", "list all accounts with the number of their items; reads the whole table")
        .addOption(unitsOption())
        .addHelpText("after", leftOutCodes)
        .action(listAccounts),
    )
    .addCommand(exportAccountCommand())
    .addCommand(importAccountCommand(wait))
    .addCommand(eraseAccountCommand(wait))
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
