import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { errorCode, UserError } from "../errors.ts";

/** What `npm start` says of itself in its data directory. */
interface LocalRun {
  readonly tableName: string;
  readonly dynamodbEndpoint: string;
  readonly pid: number;
}

/**
 * Where the `npm start` that is running has its table.
 *
 * @throws UserError when none is running
 */
export async function readLocalRun(): Promise<LocalRun> {
  const directory = process.env.DATA_DIR || join(import.meta.dirname, "../../.local");
  const file = join(directory, "run.json");
  const text = await readFile(file, "utf8").catch(() => {
    throw new UserError(`There is no ${file}: is \`npm start\` running, with the same DATA_DIR?`);
  });
  const run = parse(text);
  if (!run) throw new UserError(`${file} does not say where a run is: start \`npm start\` again.`);
  if (isAlive(run.pid)) return run;
  throw new UserError(
    `The \`npm start\` of ${file} (process ${run.pid}) is no longer running: start it again.`,
  );
}

function parse(text: string): LocalRun | undefined {
  try {
    const run = JSON.parse(text);
    return run.tableName && run.dynamodbEndpoint && Number.isSafeInteger(run.pid) ? run : undefined;
  } catch {
    return undefined;
  }
}

/** `kill -9` leaves the file behind. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Another user's process is alive, too.
    return errorCode(error) === "EPERM";
  }
}
