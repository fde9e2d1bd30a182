import { Command } from "commander";
import { rebuildCommand } from "./counts-rebuild.ts";
import { statusCommand } from "./counts-status-command.ts";
import { verifyCommand } from "./counts-verify.ts";

/** `counts status|verify|rebuild`: the counts that page the lists of an account, or of all accounts. */
export const countsCommand = (): Command =>
  new Command("counts")
    .description("show, verify or rebuild the counts of an account's lists")
    .addCommand(statusCommand())
    .addCommand(verifyCommand())
    .addCommand(rebuildCommand());
