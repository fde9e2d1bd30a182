import type { FaultCode } from "../../../../shared/errors.ts";

/** A cell that is not empty, with the number of its column. */
export type Cell = readonly [index: number, text: string];

/** A row of a file, with the number of its first line; in JSON, its number in the array. */
export interface CsvRecord {
  readonly line: number;
  /** How many cells it has, also empty ones. */
  readonly width: number;
  readonly cells: readonly Cell[];
  /** The lines before the header that are not empty. */
  readonly skipped?: readonly number[];
}

/** An option that takes rows with a fault: `--map-value` for each text, each other one with one value. */
export interface Remedy {
  readonly option: "--map" | "--map-value" | "--date-format" | "--time-zone";
  /** One of these values. */
  readonly values: readonly string[];
}

export const rowFault = (
  field: string,
  code: FaultCode | "wrong_columns",
  message: string,
  remedies?: readonly Remedy[],
) => ({ field, code, message, ...(remedies && { remedies }) });

/** A fault of a row: its field (`""` for the whole row), a code and the end of a sentence. */
export type RowFault = ReturnType<typeof rowFault>;

/** A row of a file: its fields, as far as it can be read, and why it cannot be read whole. */
export interface Row {
  readonly line: number;
  readonly value: unknown;
  /** The SHA-256 of its cells with the names of their columns, in any order of these, and of how many equal rows are before it. */
  readonly sha256: string;
  readonly fault?: RowFault;
}
