import { appendFileSync } from "node:fs";
import { errorMessage, UserError } from "../../user-error.ts";
import type { RowFault } from "./file/file-parts.ts";

/** The rejected rows of a run. An import writes them to a file, with one JSON object on each line. */
export class Rejects {
  /** The file, which is created with the first row. */
  readonly path: string | undefined;
  count = 0;
  /** For each reason, the number of rows with it, and the line of the first one. */
  readonly #reasons = new Map<string, { count: number; readonly line: number }>();

  constructor(path?: string) {
    this.path = path;
  }

  /** @throws UserError when the file cannot be written */
  add(line: number, errors: readonly RowFault[], row: unknown): void {
    this.count += 1;
    for (const { field, message } of errors) {
      const sentence = `${field.replace(/\[\d+\]/, "") || "The row"} ${message}`.replace(/\.?$/, ".");
      const reason = this.#reasons.get(sentence) ?? { count: 0, line };
      reason.count += 1;
      this.#reasons.set(sentence, reason);
    }
    if (!this.path) return;
    try {
      // Only its owner can read the file, because it contains the data of leads.
      appendFileSync(this.path, `${JSON.stringify({ line, errors, row })}\n`, { mode: 0o600 });
    } catch (error) {
      throw new UserError(`The rejected rows cannot be written: ${errorMessage(error)}`);
    }
  }

  /** The commonest reasons, one line each. */
  get commonest(): readonly string[] {
    const sorted = [...this.#reasons].sort(([, a], [, b]) => b.count - a.count);
    const lines = sorted.map(([sentence, { count, line }]) =>
      count === 1 ? `  Line ${line}: ${sentence}` : `  ${count} rows, first line ${line}: ${sentence}`,
    );
    return lines.length > 5 ? [...lines.slice(0, 5), `  ${lines.length - 5} other reasons.`] : lines;
  }
}
