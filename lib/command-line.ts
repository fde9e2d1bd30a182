import { UserError } from "./user-error.ts";

/** The major version of Node.js that Lambda runs, and that the tests run on. */
const nodeMajor = 24;

/** Runs a command. A `UserError` prints its message. Any other error prints its stack. Both exit with 1. */
export async function run(main: () => Promise<unknown>): Promise<void> {
  process.stdout.on("error", failOutput);
  try {
    checkNodeVersion(process.versions.node);
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

/**
 * Checks the version of Node.js. On a platform for which the lock file has no Node.js, the system's version runs.
 *
 * @throws UserError for another major version than the one that the tests run on
 */
export function checkNodeVersion(version: string): void {
  if (version.startsWith(`${nodeMajor}.`)) return;
  throw new UserError(
    `The project needs Node.js ${nodeMajor}, but this is Node.js ${version}: run it with npm, which brings its own on Linux, or install Node.js ${nodeMajor}.`,
  );
}
