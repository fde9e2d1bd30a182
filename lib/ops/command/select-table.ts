import type { DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import { Pace } from "../../../shared/dynamodb/pace.ts";
import { selectTable, table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { stageTableName } from "../../../shared/stages.ts";
import { UserError } from "../../user-error.ts";
import { checkDataFormat } from "../table/data-format.ts";
import { compareClocks } from "../table/table-clock.ts";
import type { PacedOptions, TableOptions } from "./command.ts";
import { readLocalRun } from "./local-run-file.ts";

/** A command can wait longer than a route. Times are in milliseconds. */
export const operatorConfig = {
  maxAttempts: 10,
  retryMode: "standard",
  requestHandler: { connectionTimeout: 5000, requestTimeout: 10_000, throwOnRequestTimeout: true },
} satisfies DynamoDBClientConfig;

/** The same region and credentials as `npm start`; with these the SDK does not look for those of an AWS profile. */
const localConfig = {
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
  // A local run says in its file which format it has.
  if (options.writes && !options.local) await checkDataFormat({ client: table, name: tableName });
}

async function selectNamedTable(
  { local, stage, table }: TableOptions,
  config: DynamoDBClientConfig,
): Promise<void> {
  if (local) {
    const { tableName: name, dynamodbEndpoint: endpoint } = await readLocalRun();
    const client = { ...operatorConfig, ...localConfig, ...config, endpoint };
    return selectTable(name, client);
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

/** How often it is shown how far a command is, in milliseconds. */
const shownEvery = 10_000;

/** A pace that says at a terminal, every ten seconds, how many read units the command has used. */
export class ShownPace extends Pace {
  #used = 0;
  #shownAt = Date.now();

  override spend(units: number): Promise<void> {
    this.#used += units;
    if (process.stderr.isTTY && Date.now() - this.#shownAt >= shownEvery) {
      this.#shownAt = Date.now();
      console.error(`${Math.round(this.#used).toLocaleString("en")} read units used so far.`);
    }
    return super.spend(units);
  }
}

/** Selects the table that the options name, with a client that compares the clocks. @returns the pace for its calls */
export async function selectPacedTable(options: PacedOptions): Promise<Pace> {
  // The pace makes all further attempts, so that it notices every throttle.
  await selectTableByOptions(options, { maxAttempts: 1 });
  compareClocks(table);
  return new ShownPace(options.units);
}
