import { TooExpensiveError, TooManyAtOnceError } from "../dynamodb/dynamodb-errors.ts";
import { longListsKey } from "../dynamodb/keys.ts";
import { rateLimit } from "./rate-limiter.ts";
import { addUsed } from "./used-requests.ts";

/** How many long lists of an account may start in a second. Each takes three seconds at most, so at most 20 run at once. */
const perSecond = 5;

/** How long the admission may take, in milliseconds. */
const admissionTimeout = 500;

/**
 * Admits a list that reads much, so that one account's lists cannot use up the execution environments of all accounts.
 * The rate limiter bounds short requests. If the stage's limit is 0, nothing is bounded.
 *
 * @throws TooManyAtOnceError when too many started in the same second
 * @throws TooExpensiveError when the table fails, so that the list does not burden it further
 */
export async function admitLongList(account: string): Promise<void> {
  if (rateLimit === undefined) return;
  const second = Math.floor(Date.now() / 1000);
  const window = { count: 1, requests: perSecond, expiresAt: second + 60 };
  const signal = AbortSignal.timeout(admissionTimeout);
  const { added } = await addUsed(longListsKey(account, second), window, signal).catch((cause: unknown) => {
    if (cause instanceof TooManyAtOnceError) throw cause;
    throw new TooExpensiveError("not_admitted", "No long list can be admitted now.", { cause });
  });
  if (!added) throw new TooManyAtOnceError("Too many long lists of the account started at once.");
}
