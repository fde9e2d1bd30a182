import { constants } from "node:os";

let describe = () => "What is done stays done.";

/** Sets how a command describes its progress if Ctrl-C ends it. @returns the same function */
export function reportProgress(tell: () => string): () => string {
  describe = tell;
  return tell;
}

/** Ends the process on Ctrl-C, and prints what is done and how to continue. */
export function endByInterrupt(): never {
  console.error(`Stopped. ${describe()} Run the same command again to continue.`);
  process.exit(128 + constants.signals.SIGINT);
}
