import { Command, InvalidArgumentError, Option } from "commander";
import { stages } from "../../shared/stages.ts";
import type { TableOptions } from "./select-table.ts";

/** The options of every command on an account. */
export interface AccountOptions extends TableOptions {
  readonly account: string;
  readonly json?: boolean;
}

/** The options of a command that writes to the table. */
export interface WritingOptions extends AccountOptions {
  readonly dryRun?: boolean;
}

/** How long a change is retried while other writers change the same item, in milliseconds. */
const changeTimeout = 10_000;

/** The deadline of a change that starts now, in milliseconds since the epoch. */
export const changeDeadline = () => Date.now() + changeTimeout;

/** A command on an account, with the options that name the table. */
export function accountCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .requiredOption("--account <id>", "the account", parseAccountId)
    .addOption(new Option("--local", "the table of the running `npm start`").conflicts(["stage", "table"]))
    .addOption(
      new Option("--stage <name>", "the table of a deployed stage").choices(stages).conflicts("table"),
    )
    .option("--table <name>", "the table with this name")
    .option("--json", "print JSON");
}

/** A command on an account that writes to the table, unless `--dry-run` is set. */
export const writingCommand = (name: string, description: string) =>
  accountCommand(name, description).option(
    "--dry-run",
    "print what the command would do, and change nothing",
  );

function parseAccountId(text: string): string {
  if (!/^[\w.-]{1,64}$/.test(text)) {
    throw new InvalidArgumentError("An account id has 1 to 64 letters, digits, '_', '.' or '-'.");
  }
  return text;
}
