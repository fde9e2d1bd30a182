import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { errorCode, errorMessage, UserError } from "../../errors.ts";
import { isRecord } from "../../is-record.ts";

/** What a command was asked to do; a continued one must have been asked the same. */
export type Task = Readonly<Record<string, unknown>>;

/** Keeps how far a command came in a file, which survives the end of its process. */
export class ProgressFile<Position extends object> {
  readonly #file: string;
  readonly #task: Task;

  constructor(file: string, task: Task) {
    this.#file = file;
    this.#task = task;
  }

  /**
   * @returns undefined if there is no file, so nothing to continue
   * @throws UserError if the file is of another task
   */
  async read(): Promise<Position | undefined> {
    const text = await readFile(this.#file, "utf8").catch((error: unknown) => {
      if (errorCode(error) === "ENOENT") return undefined;
      throw new UserError(`${this.#file} cannot be read: ${errorMessage(error)}`);
    });
    if (text === undefined) return undefined;
    const saved = parse(text);
    if (saved && JSON.stringify(saved.task) === JSON.stringify(this.#task)) return saved.position as Position;
    throw new UserError(
      `${this.#file} is not of this command: use the same options as before, or another file.`,
    );
  }

  /** Replaces the file atomically. */
  async save(position: Position): Promise<void> {
    const text = `${JSON.stringify({ task: this.#task, position })}\n`;
    try {
      await writeFile(`${this.#file}.new`, text, { mode: 0o600 });
      await rename(`${this.#file}.new`, this.#file);
    } catch (error) {
      throw new UserError(`${this.#file} cannot be written: ${errorMessage(error)}`);
    }
  }

  /** Nothing is left to continue. */
  remove = (): Promise<void> => rm(this.#file, { force: true });
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const saved: unknown = JSON.parse(text);
    return isRecord(saved) && isRecord(saved.position) ? saved : undefined;
  } catch {
    return undefined;
  }
}
