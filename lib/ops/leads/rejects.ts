import { appendFileSync, writeFileSync } from "node:fs";
import { errorCode, errorMessage, UserError } from "../../user-error.ts";
import type { RowFault } from "./file/file-parts.ts";

/** The file of rejected rows, with one JSON object on each line. It is created with the first row. */
export class Rejects {
  readonly #file: string;
  readonly #isDryRun: boolean;
  /** Undefined until a row is rejected. */
  path: string | undefined;
  count = 0;
  /** The number of faults with each field and code, and their first message. */
  readonly #reasons = new Map<string, { count: number; first: string; isOne: boolean }>();

  constructor(file: string, isDryRun: boolean) {
    this.#file = file;
    this.#isDryRun = isDryRun;
  }

  /** @throws UserError when the file cannot be written */
  add(line: number, errors: readonly RowFault[], row: unknown): void {
    this.count += 1;
    for (const { field, code, message } of errors) {
      const name = field.replace(/\[\d+\]/, "");
      const sentence = `${name || "The row"} ${message}`.replace(/\.?$/, ".");
      const reason = this.#reasons.get(`${name} ${code}`) ?? { count: 0, first: sentence, isOne: true };
      reason.count += 1;
      reason.isOne &&= reason.first === sentence;
      this.#reasons.set(`${name} ${code}`, reason);
    }
    try {
      this.path ??= this.#create();
      appendFileSync(this.path, `${JSON.stringify({ line, errors, row })}\n`);
    } catch (error) {
      throw new UserError(`The rejected rows of ${this.#file} cannot be written: ${errorMessage(error)}`);
    }
  }

  /**
   * Creates a file that only its owner can read, because it contains the data of leads. The file of an earlier import stays,
   * because it may have been corrected, and so does that of another import at the same time.
   */
  #create(): string {
    const options = { mode: 0o600, flag: this.#isDryRun ? "w" : "wx" };
    for (let number = 1; ; number++) {
      const ending = number > 1 ? `-${number}` : "";
      const path = `${this.#file}${this.#isDryRun ? ".dry-run" : ""}.rejected${ending}.jsonl`;
      try {
        writeFileSync(path, "", options);
        return path;
      } catch (error) {
        if (errorCode(error) !== "EEXIST") throw error;
      }
    }
  }

  /** The commonest reasons, one line each. Messages that name other leads or texts are one reason, with an example. */
  get commonest(): readonly string[] {
    const sorted = [...this.#reasons.values()].sort((a, b) => b.count - a.count);
    const lines = sorted.map(
      ({ count, first, isOne }) =>
        `  ${count} ${count === 1 ? "row" : "rows"}${isOne ? "" : ", for example"}: ${first}`,
    );
    return lines.length > 5 ? [...lines.slice(0, 5), `  ${lines.length - 5} other reasons.`] : lines;
  }
}
