import { Command } from "commander";
import { inColumns, onTable } from "../command/action.ts";
import { command, type TableOptions } from "../command/command.ts";
import { countAccounts } from "./account-items.ts";
import { copyAccountCommand } from "./accounts-copy.ts";
import { eraseAccountCommand } from "./accounts-erase.ts";
import { exportAccountCommand } from "./accounts-export.ts";
import { freezeCommand, setLimitCommand, unfreezeCommand } from "./accounts-settings.ts";

export const accountsCommand = () =>
  new Command("accounts")
    .description("list accounts, copy, freeze, export or erase one, and set its rate limit")
    .addCommand(listCommand())
    .addCommand(exportAccountCommand())
    .addCommand(copyAccountCommand())
    .addCommand(freezeCommand())
    .addCommand(unfreezeCommand())
    .addCommand(eraseAccountCommand())
    .addCommand(setLimitCommand());

const listCommand = () =>
  command(
    "list",
    "list all accounts with the number of their items, also of revoked keys; reads the whole table",
    { account: "none", paced: true },
  ).action(
    onTable<TableOptions>(async (_, { pace }) => {
      const accounts = await countAccounts(pace);
      const rows = Array.from(accounts, ([account, { counts, settings }]) => ({
        ...counts,
        account,
        ...settings,
      }));
      const columns = ["account", "lead", "conversation", "message", "apiKey", "requests", "frozenAt"];
      return inColumns(rows, "The table has no accounts.", columns);
    }),
  );
