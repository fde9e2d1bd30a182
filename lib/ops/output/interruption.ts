import { constants } from "node:os";
import { printFailure } from "./print-failure.ts";

let describe = () => "What is done stays done.";
let tellDetails = (): object => ({});

/** Sets how a command describes its progress if Ctrl-C ends it. @param details what `--json` prints of it */
export function reportProgress(tell: () => string, details = (): object => ({})): void {
  describe = tell;
  tellDetails = details;
}

/** Ends the process on Ctrl-C, and prints what is done and how to continue. */
export function endByInterrupt(): never {
  const message = `Stopped. ${describe()} Run the same command again to continue.`;
  console.error(message);
  printFailure(message, tellDetails());
  process.exit(128 + constants.signals.SIGINT);
}
