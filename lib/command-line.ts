import { UserError } from "./user-error.ts";

/** Runs a command. A `UserError` prints its message. Any other error prints its stack. Both exit with 1. */
export async function run(main: () => Promise<unknown>): Promise<void> {
  process.stdout.on("error", failOutput);
  try {
    await main();
  } catch (error) {
    console.error(error instanceof UserError ? error.message : error);
    process.exitCode = 1;
  }
}

/** Reports lost output, for example on a full disk: `console.log` does not. A reader such as `head` may end early. */
function failOutput(error: Error & { readonly code?: string }): void {
  if (error.code === "EPIPE") return;
  console.error(`The output cannot be written: ${error.message}`);
  process.exitCode = 1;
}
