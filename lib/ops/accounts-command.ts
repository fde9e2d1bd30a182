import { Command } from "commander";
import { setLimitCommand, showLimitCommand, unsetLimitCommand } from "./set-limit-command.ts";

/** `accounts set-limit|unset-limit|show-limit`: the accounts themselves. */
export function accountsCommand(): Command {
  const accounts = new Command("accounts").description("set and show the rate limit of an account");
  return accounts
    .addCommand(setLimitCommand())
    .addCommand(unsetLimitCommand())
    .addCommand(showLimitCommand());
}
