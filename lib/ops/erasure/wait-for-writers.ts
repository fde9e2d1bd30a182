import type { AnyPace } from "../../../shared/dynamodb/pace.ts";

/**
 * How long a running function may still write after it has read a lead, the root of a list, or that an account is not frozen,
 * in milliseconds. A request ends within 18 seconds of the authorizer's read, and deliver-message within 30 seconds. A webhook
 * reads again for each message. A maintainer works on a list for 20 seconds, and its last step can take six calls of 2.5.
 */
const longestRun = 35_000;

/**
 * Waits until no function writes because of something that it read before. Meanwhile, the indexes catch up.
 *
 * @param done what the command has done so far, for the operator
 * @param keyCache how long a deleted key may still work, in milliseconds
 */
export async function waitForWriters(done: string, pace: AnyPace, keyCache = 0): Promise<void> {
  const wait = keyCache + longestRun;
  console.error(
    `${done}, but running functions and cached keys may still write: waiting for ${wait / 1000} s.`,
  );
  await pace.wait(wait);
}
