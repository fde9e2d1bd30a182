import { type Stage, tableName } from "../../shared/stages.ts";
import { OperatorError } from "./errors.ts";
import { readLocalRun } from "./local-run.ts";

/** Which table a command works on: just one of the three is given. */
export interface ConnectionOptions {
  readonly local?: boolean;
  readonly stage?: Stage;
  readonly table?: string;
}

/**
 * Points the SDK at the table that the options name, by the environment variables that it and `shared/table.ts`
 * read; so it must come before that is imported.
 */
export async function connect({ local, stage, table }: ConnectionOptions): Promise<void> {
  if (local) return connectToLocalRun();
  const name = stage ? tableName(stage) : table;
  if (!name) throw new OperatorError("Say which table: --local, --stage NAME or --table NAME.");
  process.env.TABLE_NAME = name;
}

async function connectToLocalRun(): Promise<void> {
  const run = await readLocalRun();
  process.env.TABLE_NAME = run.tableName;
  process.env.AWS_ENDPOINT_URL_DYNAMODB = run.dynamodbEndpoint;
  process.env.AWS_REGION ??= "local";
  process.env.AWS_ACCESS_KEY_ID ??= "local";
  process.env.AWS_SECRET_ACCESS_KEY ??= "local";
}
