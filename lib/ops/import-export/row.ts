/** What is wrong with a row: its field (`""` for the whole row), a code of the API's and a sentence's end. */
export interface RowFault {
  readonly field: string;
  readonly code: string;
  readonly message: string;
}

/** A row of a file, under the number of the line on which it begins: what it holds, or why that cannot be told. */
export type Row =
  | { readonly line: number; readonly value: unknown }
  | { readonly line: number; readonly fault: RowFault };

/** The longest row that is read, in bytes: what the API takes as a body. */
export const maxRowBytes = 256 * 1024;

/** The fault of a row as a whole. */
export const rowFault = (code: string, message: string): RowFault => ({ field: "", code, message });
