import { type Stage, stageTableName } from "../../shared/stages.ts";
import { UserError } from "../errors.ts";
import { useEngine } from "../local/engine/dynamodb-client.ts";
import { readLocalRun } from "./local-run-file.ts";

/** Which table a command works on: just one of the three is given. */
export interface ConnectionOptions {
  readonly local?: boolean;
  readonly stage?: Stage;
  readonly table?: string;
}

/**
 * Points the SDK at the table that the options name, by the environment variables that it and `shared/dynamodb/table-client.ts`
 * read; so it must come before that is imported.
 */
export async function selectTable({ local, stage, table }: ConnectionOptions): Promise<void> {
  if (local) {
    const run = await readLocalRun();
    return useEngine(run.dynamodbEndpoint, run.tableName);
  }
  const name = stage ? stageTableName(stage) : table;
  if (!name) throw new UserError("Say which table: --local, --stage NAME or --table NAME.");
  process.env.TABLE_NAME = name;
}
