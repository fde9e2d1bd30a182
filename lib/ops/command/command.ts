import type { DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import { Command, InvalidArgumentError, Option } from "commander";
import { defaultUnits, Pace } from "../../../shared/dynamodb/pace.ts";
import { selectTable, table } from "../../../shared/dynamodb/table-client.ts";
import { isStageName, stageNameRule, stageTableName } from "../../../shared/stages.ts";
import { UserError } from "../../errors.ts";
import { checkDataFormat } from "../table/data-format.ts";
import { readLocalRun } from "./local-run-file.ts";
import { compareClocks } from "../table/table-clock.ts";
import { wholeNumber } from "./whole-number.ts";

/** The options of every command. Exactly one of `local`, `stage` and `table` names the table. */
export interface TableOptions {
  readonly local?: boolean;
  readonly stage?: string;
  readonly table?: string;
  readonly json?: boolean;
  /** Only of a command that writes, which always has it. */
  readonly dryRun?: boolean;
}

/** The options of every command on an account. */
export interface AccountOptions extends TableOptions {
  readonly account: string;
}

/** Until when a change that starts now is retried while others change the item, in milliseconds since the epoch. */
export const changeDeadline = () => Date.now() + 10_000;

/** A command on an account, with the options that name the table. */
export const accountCommand = (name: string, description: string) =>
  allAccountsCommand(name, description).addOption(accountOption().makeOptionMandatory());

/** A command on an account that reads or writes at a pace. */
export const pacedCommand = (name: string, description: string) =>
  accountCommand(name, description).addOption(unitsOption());

/** A command on an account or on all accounts that reads or writes at a pace. */
export const accountOrAllCommand = (name: string, description: string) =>
  allAccountsCommand(name, description)
    .addOption(accountOption())
    .addOption(new Option("--all", "all accounts: reads the whole table").conflicts("account"))
    .addOption(unitsOption());

/** A command on all accounts, with the options that name the table. */
export const allAccountsCommand = (name: string, description: string) =>
  new Command(name)
    .description(description)
    .addOption(new Option("--local", "the table of the running `npm start`").conflicts(["stage", "table"]))
    .addOption(
      new Option("--stage <name>", "the table of a deployed stage").argParser(parseStage).conflicts("table"),
    )
    .option("--table <name>", "the table with this name")
    .option("--json", "print JSON");

/** The option that sets the pace of a command. */
export const unitsOption = () =>
  new Option("--units <n>", "the most read units to use per second")
    .default(defaultUnits)
    .argParser(wholeNumber(1, 9_999_999, "Units are a whole number above 0."));

export const accountOption = () => new Option("--account <id>", "the account").argParser(parseAccountId);

/** A command on an account that writes to the table, unless `--dry-run` is set. */
export const writingCommand = (name: string, description: string) =>
  withDryRun(accountCommand(name, description));

/** The same at a pace. */
export const pacedWritingCommand = (name: string, description: string) =>
  withDryRun(pacedCommand(name, description));

/** A writing command that can do without the account if another option names one of its items. */
export const itemCommand = (name: string, description: string) =>
  withDryRun(allAccountsCommand(name, description).addOption(accountOption()));

/** Gives a command that writes the option, whose value is then never undefined. */
export const withDryRun = (command: Command) =>
  command
    .option("--dry-run", "print what the command would do, and change nothing")
    .setOptionValue("dryRun", false);

export const isAccountId = (text: string) => /^[\w.-]{1,64}$/.test(text);

export function parseAccountId(text: string): string {
  if (!isAccountId(text)) {
    throw new InvalidArgumentError("An account id has 1 to 64 letters, digits, '_', '.' or '-'.");
  }
  return text;
}

function parseStage(text: string): string {
  if (!isStageName(text)) throw new InvalidArgumentError(`A stage's name has ${stageNameRule}.`);
  return text;
}

/** A command can wait longer than a route. Times are in milliseconds. */
export const operatorConfig = {
  maxAttempts: 10,
  retryMode: "standard",
  requestHandler: { connectionTimeout: 5000, requestTimeout: 10_000, throwOnRequestTimeout: true },
} satisfies DynamoDBClientConfig;

/** The same region and credentials as `npm start`; with these the SDK does not look for those of an AWS profile. */
export const localConfig = {
  region: "local",
  credentials: { accessKeyId: "local", secretAccessKey: "local" },
} satisfies DynamoDBClientConfig;

/**
 * Selects the table that the options name, for all later calls of this process.
 *
 * @param config replaces settings of the client
 * @throws UserError without a table, when `npm start` is not running, with credentials of another AWS account than that
 *   of the stage, or if the command would write another data format than the table has
 */
export async function selectTableByOptions(
  options: TableOptions,
  config: DynamoDBClientConfig = {},
): Promise<void> {
  await selectNamedTable(options, config);
  if (options.dryRun !== undefined) await checkDataFormat();
}

async function selectNamedTable(
  { local, stage, table }: TableOptions,
  config: DynamoDBClientConfig,
): Promise<void> {
  if (local) {
    const { tableName, dynamodbEndpoint: endpoint } = await readLocalRun();
    const client = { ...operatorConfig, ...localConfig, ...config, endpoint };
    return selectTable(tableName, client);
  }
  if (stage) {
    // Only a stage has a file. What reads and checks it takes 0.1 s to load.
    const { checkStage } = await import("./stage-pin.ts");
    const client = { ...operatorConfig, ...(await checkStage(stage, operatorConfig)), ...config };
    return selectTable(stageTableName(stage), client);
  }
  if (!table) throw new UserError("Name the table: --local, --stage NAME or --table NAME.");
  selectTable(table, { ...operatorConfig, ...config });
}

/** The exit code of a command that left invalid rows or items out. */
export const someInvalid = 3;

/** The help of a command that can leave items out. */
export const leftOutCodes =
  "\nExit codes: 0 success, 1 failure, 3 some items are not valid and are left out.";

/** The options of every command that reads or writes at a pace. */
export interface PacedOptions extends TableOptions {
  readonly units: number;
}

export interface PacedAccountOptions extends AccountOptions, PacedOptions {}

/** The options of every command on the counts of an account or of all accounts. */
export interface AccountsOptions extends PacedOptions {
  readonly account?: string;
  readonly all?: boolean;
}

/** Selects the table that the options name, with a client that compares the clocks. @returns the pace for its calls */
export async function selectPacedTable(options: PacedOptions): Promise<Pace> {
  // The pace makes all further attempts, so that it notices every throttle.
  await selectTableByOptions(options, { maxAttempts: 1 });
  compareClocks(table);
  return new Pace(options.units);
}

/** A command with the options that name the same table, ready to be pasted, as Markdown. */
export function opsCommand({ local, stage, table }: TableOptions, command: string): string {
  const selection = local ? "--local" : stage ? `--stage ${stage}` : `--table ${table}`;
  return `\`npm run ops -- ${command} ${selection}\``;
}
