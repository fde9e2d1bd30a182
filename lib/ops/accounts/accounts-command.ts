import { setTimeout } from "node:timers/promises";
import { Command } from "commander";
import { exportAccountCommand } from "../archive/accounts-export.ts";
import { importAccountCommand } from "../archive/accounts-import.ts";
import type { Wait } from "../common/pace.ts";
import { eraseAccountCommand } from "../erasure/accounts-erase.ts";
import { setLimitCommand, showLimitCommand, unsetLimitCommand } from "./account-limit.ts";
import { listAccountsCommand } from "./accounts-list.ts";

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
