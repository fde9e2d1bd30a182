import { Command, InvalidArgumentError, Option, type ParseOptionsResult } from "commander";
import { defaultUnits } from "../../../shared/dynamodb/pace.ts";
import { isStageName, stageNameRule } from "../../../shared/stages.ts";
import { isAccountId } from "../table/item-owner.ts";

/** The options of every command. Exactly one of `local`, `stage` and `table` names the table. */
export interface TableOptions {
  readonly local?: boolean;
  readonly stage?: string;
  readonly table?: string;
  readonly json?: boolean;
  /** Whether the command writes to the table, as it declares. */
  readonly writes?: Declaration["writes"];
  /** Only of a command that reads or writes many items, at a pace. */
  readonly units?: number;
  /** Only of a command that writes many items. */
  readonly dryRun?: boolean;
  /** Only of a command that asks before it does what cannot be undone. */
  readonly yes?: boolean;
}

/** The options of every command on an account. */
export interface AccountOptions extends TableOptions {
  readonly account: string;
}

/** What a command declares. */
interface Declaration {
  /** Whether it is on an account: `optional` if another option can name an item of the account instead. */
  readonly account?: "required" | "optional" | "none";
  /** Whether it reads or writes many items, at a pace. One that only reads leaves out items that are not valid. */
  readonly paced?: boolean;
  /** Whether it writes: with `always`, also to a frozen account. A paced command that writes has `--dry-run` and `--yes`. */
  readonly writes?: boolean | "always";
}

/** A command that reports a mistyped option. Commander would first report that the intended option is missing. */
class OperatorCommand extends Command {
  override parseOptions(args: string[]): ParseOptionsResult {
    const parsed = super.parseOptions(args);
    if (parsed.unknown.length > 0) for (const option of this.options) option.mandatory = false;
    return parsed;
  }
}

/** A command, with the options that name the table and those that follow from what it declares. */
export function command(
  name: string,
  description: string,
  { account = "required", paced = false, writes = false }: Declaration = {},
): Command {
  const made = new OperatorCommand(name)
    .description(description)
    .addOption(new Option("--local", "the table of the running `npm start`").conflicts(["stage", "table"]))
    .addOption(
      new Option("--stage <name>", "the table of a deployed stage").argParser(parseStage).conflicts("table"),
    )
    .option("--table <name>", "the table with this name", parseTable)
    .option("--json", "print JSON")
    .setOptionValueWithSource("writes", writes, "default");
  if (account === "required") made.requiredOption("--account <id>", "the account", parseAccountId);
  if (account === "optional") made.option("--account <id>", "the account", parseAccountId);
  if (!paced) return made;
  made.option("--units <n>", "the most read units to use per second", parseUnits, defaultUnits);
  if (!writes) return made;
  return made
    .option("--dry-run", "print what the command would do, and change nothing", false)
    .option(...yesOption);
}

/** A parser of whole numbers in a range. @param sentence what is said of any other text */
export const parseNumber = (least: number, most: number, sentence: string) => (text: string) => {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new InvalidArgumentError(sentence);
};

const parseUnits = parseNumber(1, 9_999_999, "Units are a whole number above 0.");

/** A parser of texts that pass a check. @param sentence what is said of any other text */
export const parseText = (isValid: (text: string) => boolean, sentence: string) => (text: string) => {
  if (isValid(text)) return text;
  throw new InvalidArgumentError(sentence);
};

export type OutputOptions = AccountOptions & { readonly output: string };

export const outputOption = [
  "--output <file>",
  "the file to write, which must not exist yet",
  parseText((text) => text !== "-", "Name a file: standard output has the summary."),
] as const;

export const parseAccountId = parseText(
  isAccountId,
  "An account id has 1 to 64 letters, digits, '_', '.' or '-'.",
);

export const parseTable = parseText(
  (text) => /^(?:arn:[\w:/.-]+|[\w.-]{3,255})$/.test(text),
  "A table's name has 3 to 255 letters, digits, '_', '.' or '-'.",
);

export const parseStage = parseText(isStageName, `A stage's name has ${stageNameRule}.`);

export const yesOption = ["--yes", "do not ask for confirmation"] as const;

/** A command with the options that name the same table, ready to be pasted, as Markdown. */
export function opsCommand({ local, stage, table }: TableOptions, line: string): string {
  const selection = local ? "--local" : stage ? `--stage ${stage}` : `--table ${table}`;
  return `\`npm run ops -- ${line} ${selection}\``;
}
