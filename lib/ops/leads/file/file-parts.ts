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

export const rowFault = (field: string, code: FaultCode | "wrong_columns", message: string) => ({
  field,
  code,
  message,
});

/** A fault of a row: its field (`""` for the whole row), a code and the end of a sentence. */
export type RowFault = ReturnType<typeof rowFault>;

/** A row of a file: its fields as far as they can be read, and the fault of a row that cannot be read completely. */
export interface Row {
  readonly line: number;
  readonly value: unknown;
  /** The SHA-256 of its cells with their column names, in any column order, and of the number of equal rows before it. */
  readonly sha256: string;
  readonly fault?: RowFault;
}
