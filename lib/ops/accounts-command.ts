import { setTimeout } from "node:timers/promises";
import { Command } from "commander";
import { eraseAccountCommand } from "./accounts/accounts-erase.ts";
import { exportAccountCommand } from "./accounts/accounts-export.ts";
import { importAccountCommand } from "./accounts/accounts-import.ts";
import { listAccountsCommand } from "./accounts/accounts-list.ts";
import type { Wait } from "./retry-while-busy.ts";
import { setLimitCommand, showLimitCommand, unsetLimitCommand } from "./set-limit-command.ts";

/** `accounts …`: everything of an account, and its rate limit. */
export const accountsCommand = (wait: Wait = setTimeout): Command =>
  new Command("accounts")
    .description("list accounts, move or erase everything of one, and set its rate limit")
    .addCommand(listAccountsCommand())
    .addCommand(exportAccountCommand())
    .addCommand(importAccountCommand(wait))
    .addCommand(eraseAccountCommand(wait))
    .addCommand(setLimitCommand())
    .addCommand(unsetLimitCommand())
    .addCommand(showLimitCommand());
