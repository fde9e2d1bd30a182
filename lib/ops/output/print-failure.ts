/** With `--json`, prints why a command fails on stdout: a command prints one JSON value in every case. */
export function printFailure(error: string, details: object = {}): void {
  if (process.argv.includes("--json")) console.log(JSON.stringify({ error, ...details }));
}
