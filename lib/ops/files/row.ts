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

export const rowFault = (field: string, code: RowFault["code"], message: string): RowFault => ({
  field,
  code,
  message,
});
