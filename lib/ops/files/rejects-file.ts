import { writeFile } from "node:fs/promises";
import { errorMessage, UserError } from "../../errors.ts";
import type { RowFault } from "./row.ts";

/** The file of rejected rows, with one JSON object on each line. It is created with the first row. */
export class RejectsFile {
  readonly path: string;
  count = 0;

  constructor(path: string) {
    this.path = path;
  }

  /** @throws UserError when the file cannot be written */
  async add(reject: { line: number; errors: readonly RowFault[]; row?: unknown }): Promise<void> {
    const flag = this.count === 0 ? "w" : "a";
    this.count += 1;
    // Readable only by its owner, because it contains the data of leads.
    await writeFile(this.path, `${JSON.stringify(reject)}\n`, { flag, mode: 0o600 }).catch((error) => {
      throw new UserError(`${this.path} cannot be written: ${errorMessage(error)}`);
    });
  }
}
