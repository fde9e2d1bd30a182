import { constants } from "node:os";

let describe = () => "What is done stays done.";
let tellDetails = (): object => ({});

/** Sets how a command describes its progress if Ctrl-C ends it. @param details what `--json` prints of it */
export function reportProgress(tell: () => string, details = (): object => ({})): void {
  describe = tell;
  tellDetails = details;
}

/** With `--json`, prints why a command fails on stdout: a command prints one JSON value in every case. */
export function printFailure(error: string, details: object = {}): void {
  if (process.argv.includes("--json")) console.log(JSON.stringify({ error, ...details }));
}

/** Ends the process on a signal, and prints what is done and how to continue. */
export function endBySignal(signal: NodeJS.Signals, message: string, details?: object): never {
  console.error(message);
  printFailure(message, details);
  process.exit(128 + constants.signals[signal]);
}

export const endByInterrupt = () =>
  endBySignal("SIGINT", `Stopped. ${describe()} Run the same command again to continue.`, tellDetails());
