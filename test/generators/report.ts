/** What a tool made of the documents. */
export interface Result {
  readonly ok: boolean;
  /** The row of the table: the tool and its figures. */
  readonly row: Readonly<Record<string, string>>;
  readonly errors: readonly string[];
}

/** How many errors of a tool are printed, and how many characters of each. */
const maxErrors = 5;
const maxErrorLength = 500;

/** Prints a table with a row for each tool, and what failed; a failure becomes the exit code of the process. */
export function report(title: string, results: readonly Result[]): void {
  console.log(`\n${title}`);
  console.table(Object.fromEntries(results.map(({ row: { tool = "", ...row } }) => [tool, row])));
  for (const { row, errors } of results) {
    for (const error of errors.slice(0, maxErrors))
      console.log(`${row.tool}: ${error.slice(0, maxErrorLength)}`);
  }
  if (results.some(({ ok }) => !ok)) process.exitCode = 1;
}
