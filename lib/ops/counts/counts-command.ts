import { setTimeout } from "node:timers/promises";
import { Command } from "commander";
import type { Wait } from "../../../shared/dynamodb/pace.ts";
import { rebuildCommand } from "./counts-rebuild-command.ts";
import { statusCommand } from "./counts-status-command.ts";
import { verifyCommand } from "./counts-verify-command.ts";

/** `counts status|verify|rebuild`: the counts that page the lists of an account, or of all accounts. */
export const countsCommand = (wait: Wait = setTimeout): Command =>
  new Command("counts")
    .description("show, verify or rebuild the counts of an account's lists")
    .addCommand(statusCommand(wait))
    .addCommand(verifyCommand(wait))
    .addCommand(rebuildCommand(wait));
