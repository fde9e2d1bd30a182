import { constants } from "node:os";

let describe = () => "What is done stays done.";

/** Says what a command has done, if Ctrl-C ends it. @returns the function that tells it */
export function reportProgress(tell: () => string): () => string {
  describe = tell;
  return tell;
}

/** Says on Ctrl-C what is done, and how to go on. */
export function endByInterrupt(): never {
  console.error(`Stopped. ${describe()} Run the same command again to continue.`);
  process.exit(128 + constants.signals.SIGINT);
}
