import { ifValid, isCount, optional, readFields } from "../dynamodb/invalid-items.ts";
import { accountKey } from "../dynamodb/keys.ts";
import { type Item, readItem } from "../dynamodb/table-client.ts";
import { ApiError } from "../errors.ts";

/** The most requests that an operator can allow in a window. */
export const largestLimit = 100_000_000;

/** Whether a value is a limit that an operator can have set. */
export const isLimit = (value: unknown): value is number =>
  isCount(value) && value > 0 && value <= largestLimit;

/** An account with an invalid time is also frozen. */
export const frozenSince = ({ frozenAt }: Item = {}) =>
  frozenAt === undefined ? undefined : String(frozenAt);

/** Reads since when an operator has frozen an account; undefined if it is not frozen. Nothing writes for a frozen account. */
export const readFrozenAt = async (account: string) => frozenSince(await readItem(accountKey(account)));

/** Reads what operators have set for an account. An invalid limit is ignored. */
export async function readAccountSettings(account: string) {
  const item = await readItem(accountKey(account));
  const frozenAt = frozenSince(item);
  const limit = item && ifValid(() => readFields(item, { requests: optional(isLimit) }))?.requests;
  return { ...(frozenAt && { frozenAt }), ...(limit && { rateLimitRequests: limit }) };
}

/** The error for a write to a frozen account. */
export const accountFrozen = () =>
  new ApiError(
    "account_frozen",
    "This account accepts no writes while it is being moved or erased. Try again in 30 s.",
    { retryAfter: 30 },
  );
