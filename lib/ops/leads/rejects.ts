import { createHash, randomUUID } from "node:crypto";
import { appendFileSync, existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { errorMessage, UserError } from "../../user-error.ts";
import { shellWord } from "../output/printed-text.ts";
import type { Remedy, RowFault } from "./file/file-parts.ts";

/** The lines of a file, without empty ones; none if there is no file. */
const readLines = (path: string) =>
  existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];

/** Adds a checksum to a line of JSON: somebody who corrects the line leaves it. */
const withChecksum = (json: string) => {
  const checksum = createHash("sha256").update(json).digest("hex").slice(0, 16);
  return `${json.slice(0, -1)},"checksum":"${checksum}"}`;
};

const isCorrected = (line: string) => line !== withChecksum(line.replace(/,"checksum":"\w+"}$/, "}"));

/** Appends to a file that only its owner can read, because it contains the data of leads. */
const appendLines = (path: string, lines: readonly string[]) =>
  appendFileSync(path, `${lines.join("\n")}\n`, { mode: 0o600 });

/**
 * The file of rejected rows, with one JSON object on each line. Until the run ends, it has a random name, because the file of an
 * earlier run may have been corrected, and another run of the same import may write its own.
 */
export class Rejects {
  readonly path: string;
  count = 0;
  readonly #part: string;
  /** The number of faults with each field and code, and their first message. */
  readonly #reasons = new Map<string, { count: number; first: string; isOne: boolean }>();
  /** The remedies of all faults so far, by option; of `--map-value`, by option and text. */
  readonly #remedies = new Map<string, Remedy>();

  constructor(file: string) {
    this.path = `${file}.rejected.jsonl`;
    this.#part = `${this.path}.${randomUUID()}.part`;
  }

  /**
   * Runs what rejects rows. Then the file replaces that of an earlier run, also if the run fails or Ctrl-C ends it.
   *
   * @throws UserError when the file cannot be written, and any error of the run
   */
  async collect(run: () => Promise<unknown>): Promise<void> {
    const interrupt = () => this.replace(false);
    process.prependListener("SIGINT", interrupt);
    let isComplete = false;
    try {
      await run();
      isComplete = true;
    } finally {
      process.off("SIGINT", interrupt);
      this.replace(isComplete);
    }
  }

  /** @throws UserError when the file cannot be written */
  add(line: number, faults: readonly RowFault[], row: unknown): void {
    this.count += 1;
    const errors = faults.map(({ field, code, message }) => ({ field, code, message }));
    for (const { field, code, message } of errors) {
      const name = field.replace(/\[\d+\]/, "");
      const sentence = `${name || "The row"} ${message}`.replace(/\.?$/, ".");
      const reason = this.#reasons.get(`${name} ${code}`) ?? { count: 0, first: sentence, isOne: true };
      reason.count += 1;
      reason.isOne &&= reason.first === sentence;
      this.#reasons.set(`${name} ${code}`, reason);
    }
    for (const { remedies = [] } of faults) for (const each of remedies) this.#addRemedy(each);
    this.#write(() => appendLines(this.#part, [withChecksum(JSON.stringify({ line, errors, row }))]));
  }

  /** Replaces the file of an earlier run, or removes it after a complete run without rejected rows. Corrected lines are kept. */
  replace(isComplete: boolean): void {
    this.#write(() => {
      const isEmpty = !existsSync(this.#part);
      if (isEmpty && !isComplete) return;
      const corrected = readLines(this.path).filter(isCorrected);
      if (corrected.length > 0) {
        appendLines(`${this.path}.bak`, corrected);
        console.error(`Corrected lines of the earlier ${this.path} are kept in ${this.path}.bak.`);
      }
      if (isEmpty) rmSync(this.path, { force: true });
      else renameSync(this.#part, this.path);
    });
  }

  #write(act: () => void): void {
    try {
      act();
    } catch (error) {
      throw new UserError(`${this.path} cannot be written: ${errorMessage(error)}`);
    }
  }

  /** Keeps only the values that remedy all faults so far, such as the date formats that fit all texts. */
  #addRemedy({ option, values }: Remedy): void {
    const key = option === "--map-value" ? `${option} ${values[0]}` : option;
    const { values: others = values } = this.#remedies.get(key) ?? {};
    this.#remedies.set(key, { option, values: others.filter((value) => values.includes(value)) });
  }

  /** The options with which rejected rows become valid, if only one value of the option remains. */
  get options(): readonly string[] {
    return [...this.#remedies.values()].flatMap(({ option, values: [value, other] }) =>
      value === undefined || other !== undefined ? [] : [option, shellWord(value)],
    );
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
