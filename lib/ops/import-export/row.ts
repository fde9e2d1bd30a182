import type { FaultCode } from "../../../shared/errors.ts";

/** A fault of a row: its field (`""` for the whole row), a code and the end of a sentence. */
export interface RowFault {
  readonly field: string;
  readonly code: FaultCode | "wrong_columns";
  readonly message: string;
}

/** A row of a file with the number of its first line: its value, or why it cannot be read. */
export type Row =
  | { readonly line: number; readonly value: unknown }
  | { readonly line: number; readonly fault: RowFault };

/** The longest row that is read, in bytes: as long as a request body can be. */
export const maxRowBytes = 256 * 1024;

/** A fault of the whole row. */
export const rowFault = (code: RowFault["code"], message: string): RowFault => ({ field: "", code, message });
