import { errorMessage, UserError } from "./errors.ts";

/**
 * Runs a command line. A `UserError` prints its message, any other error is a bug and prints its stack; both exit with 1.
 *
 * @param isUserError whether another error is the user's, too
 */
export async function run(
  main: () => Promise<unknown>,
  isUserError: (error: unknown) => boolean = () => false,
): Promise<void> {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof UserError || isUserError(error) ? errorMessage(error) : error);
    process.exitCode = 1;
  }
}
