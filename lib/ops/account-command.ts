import { Command, InvalidArgumentError, Option } from "commander";
import { stages } from "../../shared/stages.ts";
import type { ConnectionOptions } from "./select-table.ts";

/** What every command on an account is told. */
export interface AccountOptions extends ConnectionOptions {
  readonly account: string;
  readonly json?: boolean;
}

/** What a command is told that changes the table. */
export interface WritingOptions extends AccountOptions {
  readonly dryRun?: boolean;
}

/** A command on an account, in the table that its options name. */
export function accountCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .requiredOption("--account <id>", "the account", accountId)
    .addOption(new Option("--local", "the table of the running `npm start`").conflicts(["stage", "table"]))
    .addOption(
      new Option("--stage <name>", "the table of a deployed stage").choices(stages).conflicts("table"),
    )
    .option("--table <name>", "the table of this name")
    .option("--json", "print JSON");
}

/** Such a command that changes the table, unless it is told not to. */
export const writingCommand = (name: string, description: string) =>
  accountCommand(name, description).option("--dry-run", "say what would be, and change nothing");

function accountId(text: string): string {
  if (!/^[\w.-]{1,64}$/.test(text)) {
    throw new InvalidArgumentError("An account's id has 1 to 64 letters, digits, '_', '.' or '-'.");
  }
  return text;
}
