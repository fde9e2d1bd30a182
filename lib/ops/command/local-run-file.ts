import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { dataFormat } from "../../../shared/dynamodb/data-format.ts";
import { parseJson } from "../../../shared/json.ts";
import { errorCode, UserError } from "../../user-error.ts";

/** What `npm start` writes about itself to `run.json` in its data directory. */
export interface RunFile {
  readonly url: string;
  readonly tableName: string;
  readonly dynamodbEndpoint: string;
  readonly dataFormat: number;
  readonly pid: number;
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
  if (isAlive(run.pid)) return run;
  throw new UserError(`The \`npm start\` of ${file} (process ${run.pid}) has ended: start it again.`);
}

/** Whether the process exists: after `kill -9` the file remains. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process exists, but belongs to another user.
    return errorCode(error) === "EPERM";
  }
}
