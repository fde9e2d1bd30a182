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

/** A fault as a sentence; an odd name is escaped, for it is printed. @param whole what the whole row is */
export const describeFault = ({ field, message }: RowFault, whole = "the line") =>
  `${/^[\w.[\]-]*$/.test(field) ? field || whole : JSON.stringify(field)} ${message}.`;
