import { Command } from "commander";
import { command, type PacedOptions } from "../command/command.ts";
import { selectPacedTable } from "../command/select-table.ts";
import { formatColumns } from "../output/columns.ts";
import { InvalidItems } from "../table/invalid-items.ts";
import { countAccounts, nameItemCounts } from "./account-items.ts";
import { copyAccountCommand } from "./accounts-copy.ts";
import { eraseAccountCommand } from "./accounts-erase.ts";
import { exportAccountCommand } from "./accounts-export.ts";
import { freezeCommand, unfreezeCommand } from "./accounts-freeze.ts";
import { setLimitCommand, showLimitCommand } from "./accounts-limit.ts";

/** `accounts …`: everything of an account, and its rate limit. */
export const accountsCommand = (): Command =>
  new Command("accounts")
    .description("list accounts, copy, freeze, export or erase one, and set its rate limit")
    .addCommand(
      command("list", "list all accounts with the number of their items; reads the whole table", {
        account: "none",
        paced: true,
      }).action(listAccounts),
    )
    .addCommand(exportAccountCommand())
    .addCommand(copyAccountCommand())
    .addCommand(freezeCommand())
    .addCommand(unfreezeCommand())
    .addCommand(eraseAccountCommand())
    .addCommand(setLimitCommand())
    .addCommand(showLimitCommand());

async function listAccounts(options: PacedOptions): Promise<void> {
  const invalid = new InvalidItems();
  const accounts = await countAccounts(await selectPacedTable(options), invalid);
  const rows = [...accounts].map(([account, counts]) => ({ account, ...nameItemCounts(counts) }));
  if (options.json) console.log(JSON.stringify(rows));
  else if (rows.length === 0) console.log("The table has no accounts.");
  else console.log(formatColumns(rows));
  invalid.print();
}
