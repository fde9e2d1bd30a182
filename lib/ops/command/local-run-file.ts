import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { dataFormat } from "../../../shared/dynamodb/data-format.ts";
import { parseJson } from "../../../shared/json.ts";
import { UserError } from "../../user-error.ts";

/**
 * The region and the credentials of `npm start` and of the commands on its table, so that the SDK does not look for those of
 * an AWS profile. DynamoDB Local keeps the tables of each access key apart.
 */
export const localConfig = {
  region: "local",
  credentials: { accessKeyId: "local", secretAccessKey: "local" },
};

/** What `npm start` writes about itself to `run.json` in its data directory. */
export interface RunFile {
  readonly url: string;
  readonly tableName: string;
  readonly dynamodbEndpoint: string;
  readonly dataFormat: number;
}

/** The path of a file in the data directory of `npm start`. */
export const localFile = (name: string) =>
  join(process.env.DATA_DIR || join(import.meta.dirname, "../../../.local"), name);

/**
 * Reads where the running `npm start` has its table.
 *
 * @throws UserError when none is running, or one of a version with another data format
 */
export async function readLocalRun(): Promise<RunFile> {
  const file = localFile("run.json");
  const text = await readFile(file, "utf8").catch(() => {
    throw new UserError(`There is no ${file}: is \`npm start\` running, with the same DATA_DIR?`);
  });
  const run = Object(parseJson(text)) as RunFile;
  if (run.dataFormat !== dataFormat)
    throw new UserError(`${file} is from another version: restart \`npm start\`.`);
  if (isLocked(localFile("run.lock"))) return run;
  throw new UserError(`The \`npm start\` of ${file} has ended: start it again.`);
}

/** Whether an error of SQLite says that another connection uses the file: https://www.sqlite.org/rescode.html#busy */
export const isInUse = (error: unknown) => Number(Object(error).errcode) % 256 === 5;

/** Whether a run holds the lock of its data directory: its other files remain when it ends. */
function isLocked(file: string): boolean {
  try {
    using database = new DatabaseSync(file, { readOnly: true });
    database.exec("SELECT * FROM sqlite_schema");
    return false;
  } catch (error) {
    return isInUse(error);
  }
}
