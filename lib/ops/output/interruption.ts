import { constants } from "node:os";

/** The signals that end a command with a sentence: Ctrl-C, a stop, and a terminal that is closed. */
export const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

let describe = () => "What is done stays done.";

/** Sets how a command describes its progress if a signal ends it. */
export function reportProgress(tell: () => string): void {
  describe = tell;
}

/** Ends the process, and prints what is done and how to continue. */
export function endBySignal(signal: NodeJS.Signals): never {
  console.error(`Stopped. ${describe()} Run the same command again to continue.`);
  process.exit(128 + constants.signals[signal]);
}
