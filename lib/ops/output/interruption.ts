import { constants } from "node:os";

let describe = () => "What is done stays done.";

/** Sets how a command describes its progress if Ctrl-C ends it. */
export function reportProgress(tell: () => string): void {
  describe = tell;
}

/** Ends the process on a signal, and prints what is done and how to continue. */
export function endBySignal(signal: NodeJS.Signals, message: string): never {
  console.error(message);
  process.exit(128 + constants.signals[signal]);
}

export const endByInterrupt = () =>
  endBySignal("SIGINT", `Stopped. ${describe()} Run the same command again to continue.`);
