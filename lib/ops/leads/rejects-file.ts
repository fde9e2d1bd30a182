import { type FileHandle, open } from "node:fs/promises";
import { errorMessage, UserError } from "../../errors.ts";
import type { RowFault } from "../archive/row.ts";

/** The file of rejected rows, with one JSON object on each line. It is created with the first row. */
export class RejectsFile implements AsyncDisposable {
  readonly path: string;
  count = 0;
  #file: FileHandle | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** @throws UserError when the file cannot be written */
  async add(reject: { line: number; errors: readonly RowFault[]; row?: unknown }): Promise<void> {
    this.count += 1;
    try {
      // Readable only by its owner, because it contains the data of leads.
      this.#file ??= await open(this.path, "w", 0o600);
      await this.#file.write(`${JSON.stringify(reject)}\n`);
    } catch (error) {
      throw new UserError(`${this.path} cannot be written: ${errorMessage(error)}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file?.close();
  }
}
