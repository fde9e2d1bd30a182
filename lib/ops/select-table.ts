import type { DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import { selectTable } from "../../shared/dynamodb/table-client.ts";
import { type Stage, stageTableName } from "../../shared/stages.ts";
import { UserError } from "../errors.ts";
import { readLocalRun } from "./local-run-file.ts";

/** The options that name the table of a command; they exclude each other. */
export interface TableOptions {
  readonly local?: boolean;
  readonly stage?: Stage;
  readonly table?: string;
}

/** A command can wait longer than a route. Times are in milliseconds. */
const operatorConfig: DynamoDBClientConfig = {
  maxAttempts: 10,
  retryMode: "standard",
  requestHandler: { connectionTimeout: 5000, requestTimeout: 10_000, throwOnRequestTimeout: true },
};

/** The same region and credentials as `npm start`; with these the SDK does not look for those of an AWS profile. */
const localConfig: DynamoDBClientConfig = {
  region: "local",
  credentials: { accessKeyId: "local", secretAccessKey: "local" },
};

/**
 * Selects the table that the options name, for all later calls of this process.
 *
 * @throws UserError without a table, or when `npm start` is not running
 */
export async function selectTableByOptions({ local, stage, table }: TableOptions): Promise<void> {
  if (local) {
    const { tableName, dynamodbEndpoint: endpoint } = await readLocalRun();
    return selectTable(tableName, { ...operatorConfig, ...localConfig, endpoint });
  }
  const name = stage ? stageTableName(stage) : table;
  if (!name) throw new UserError("Name the table: --local, --stage NAME or --table NAME.");
  selectTable(name, operatorConfig);
}
