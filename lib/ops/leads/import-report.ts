import { appendFileSync, unlinkSync } from "node:fs";
import { errorMessage, UserError } from "../../user-error.ts";
import type { Printed } from "../command/action.ts";
import type { AccountOptions } from "../command/command.ts";
import { shellWord } from "../output/printed-text.ts";
import { someInvalid } from "../table/invalid-items.ts";
import type { Remedy, RowFault } from "./file/file-parts.ts";
import type { LeadFile } from "./file/lead-file.ts";

/** The file of rejected rows, with one JSON object on each line. It is created with the first row. */
export class Rejects {
  readonly path: string;
  count = 0;
  /** The number of faults, by field and reason. */
  readonly #reasons = new Map<string, number>();
  /** The remedies of all faults so far, by option; of `--map-value`, by option and text. */
  readonly #remedies = new Map<string, Remedy>();

  constructor(file: string) {
    this.path = `${file}.rejected.jsonl`;
    // Deletes the file of an earlier run. The directory may be read-only.
    try {
      unlinkSync(this.path);
    } catch {}
  }

  /** @throws UserError when the file cannot be written */
  add(line: number, faults: readonly RowFault[], row: unknown): void {
    this.count += 1;
    const errors = faults.map(({ field, code, message }) => ({ field, code, message }));
    for (const { field, message } of errors) {
      const reason = `${field.replace(/\[\d+\]/, "") || "The row"} ${message}`;
      this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1);
    }
    for (const { remedies = [] } of faults) for (const each of remedies) this.#addRemedy(each);
    try {
      // Readable only by its owner, because it contains the data of leads.
      appendFileSync(this.path, `${JSON.stringify({ line, errors, row })}\n`, { mode: 0o600 });
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

  /** The commonest reasons, one line each. */
  get commonest(): readonly string[] {
    const sorted = [...this.#reasons].sort(([, a], [, b]) => b - a);
    const lines = sorted.map(([reason, count]) => `  ${count} ${count === 1 ? "row" : "rows"}: ${reason}.`);
    return lines.length > 5 ? [...lines.slice(0, 5), `  ${lines.length - 5} other reasons.`] : lines;
  }
}

/** This command with more options, to be pasted. A time zone that the command already has is kept. */
export function commandWith(options: readonly string[]): string {
  const given = process.argv.slice(2);
  const hasZone = given.some((word) => word.startsWith("--time-zone"));
  const more = options.filter((_, i) => !hasZone || ![options[i], options[i - 1]].includes("--time-zone"));
  return ["npm run ops --", ...given.map(shellWord), ...more].join(" ");
}

/** A sentence with the columns, and the lines before the header, that are left out; empty if there are none. */
export function describeLeftOut(leftOut: readonly string[]): string[] {
  const names = leftOut.slice(0, 40).map((name) => JSON.stringify(name));
  const more = leftOut.length - names.length;
  if (more > 0) names.push(`${more} more`);
  return names.length > 0 ? [`Left out: ${names.join(", ")}.`] : [];
}

/** What an import has done, or would do. */
interface Outcomes {
  readonly importId?: string;
  /** The number of valid rows, or of the rows with each outcome. */
  readonly counts: Readonly<Record<string, number>>;
  /** How many of the present leads have other values than their rows. */
  readonly different?: number;
  /** Whether the run has `--update`: leads that are still different cannot be changed. */
  readonly update?: boolean;
  /** Leads as they would be stored. */
  readonly first?: readonly object[];
}

const fixed = "createdAt never changes. Undo the import that made them, and import them again.";

/** What is printed of the outcomes. Sets the exit code of a run with invalid rows. */
export function describeOutcomes(
  { account }: AccountOptions,
  { count: rows, header }: LeadFile,
  { importId, counts, different = 0, update = false, first = [] }: Outcomes,
  rejects: Rejects,
): Printed {
  const { path, count: rejected, options } = rejects;
  const { leftOut } = header;
  const all = { ...counts, rejected };
  const see = rejected > 0 ? ` See ${path}.` : "";
  const numbers = Object.entries(all).map(([outcome, count]) => `${count} ${outcome}`);
  const lines = [
    ...first.map((lead) => JSON.stringify(lead)),
    `${rows} rows: ${numbers.join(", ")}.${see}`,
    ...rejects.commonest,
    ...(options.length > 0 ? ["If these options are right, run:", commandWith(options)] : []),
    ...(different > 0
      ? [
          `${different} rows are stored with other values: ${update ? fixed : "add --update, which changes all but createdAt."}`,
        ]
      : []),
    ...describeLeftOut(leftOut),
    ...(importId && counts.imported ? [`This is the import ${importId}: --undo takes it back.`] : []),
  ];
  if (rejected > 0) process.exitCode = someInvalid;
  const json = {
    account,
    importId,
    rows,
    ...all,
    ...(different > 0 && { different }),
    ...(leftOut.length > 0 && { leftOut }),
    ...(rejected > 0 && { rejects: path }),
    ...(first.length > 0 && { first }),
  };
  return { json, text: lines.join("\n") };
}
