import { UserError } from "./errors.ts";

/** Runs a command line. A `UserError` prints its message, any other error is a bug and prints its stack; both exit with 1. */
export async function run(main: () => Promise<unknown>): Promise<void> {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof UserError ? error.message : error);
    process.exitCode = 1;
  }
}
