import { readFile } from "node:fs/promises";
import type { Key } from "../../../shared/dynamodb/table-client.ts";
import { errorCode, errorMessage, UserError } from "../../errors.ts";
import { isRecord } from "../../is-record.ts";
import { parseJson } from "../../parse-json.ts";
import { writeOutput } from "../common/output-file.ts";

/** What a command was asked to do; a continued one must have been asked the same. */
export type Task = Readonly<Record<string, unknown>>;

/** How far a command came. */
export interface Position {
  /** When the events end, in milliseconds since the epoch: the command may have begun without this option. */
  readonly until: number;
  /** The item of the last event. */
  readonly key: Key;
  /** How many events were sent. */
  readonly sent: number;
}

/**
 * Reads how far a command came whose process has ended.
 *
 * @returns undefined if there is no file, so nothing to continue
 * @throws UserError if the file is of another task
 */
export async function readPosition(file: string, task: Task): Promise<Position | undefined> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return undefined;
    throw new UserError(`${file} cannot be read: ${errorMessage(error)}`);
  });
  if (text === undefined) return undefined;
  const saved = parseJson(text);
  if (isRecord(saved) && isRecord(saved.position) && JSON.stringify(saved.task) === JSON.stringify(task))
    return saved.position as unknown as Position;
  throw new UserError(`${file} is not of this command: use the same options as before, or another file.`);
}

/** Replaces the file atomically. */
export const savePosition = (file: string, task: Task, position: Position): Promise<void> =>
  writeOutput([`${JSON.stringify({ task, position })}\n`], file);
