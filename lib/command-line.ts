import { errorMessage, UserError } from "./user-error.ts";

/** The major version of Node.js that Lambda runs, and that the tests run on. */
const nodeMajor = 24;

/**
 * Runs a command line. A `UserError` prints its message, any other error is a bug and prints its stack; both exit with 1.
 *
 * @param isUserError whether another error is the user's, too
 */
export async function run(
  main: () => Promise<unknown>,
  isUserError: (error: unknown) => boolean = () => false,
): Promise<void> {
  process.stdout.on("error", failOutput);
  try {
    checkNodeVersion(process.versions.node);
    await main();
  } catch (error) {
    console.error(error instanceof UserError || isUserError(error) ? errorMessage(error) : error);
    process.exitCode = 1;
  }
}

/** On a full disk, what was printed is lost, and `console.log` says nothing. A reader that has ended, such as `head`, wants no more. */
function failOutput(error: Error & { readonly code?: string }): void {
  if (error.code === "EPIPE") return;
  console.error(`The output cannot be written: ${error.message}`);
  process.exitCode = 1;
}

/**
 * Checks the version of Node.js, which on a platform without a Node.js in the lock file is that of the system.
 *
 * @throws UserError for another version than the tests run on
 */
export function checkNodeVersion(version: string): void {
  if (version.startsWith(`${nodeMajor}.`)) return;
  throw new UserError(
    `This is Node.js ${version}, but the project needs Node.js ${nodeMajor}: run it with npm, and on other platforms than Linux install that version.`,
  );
}
