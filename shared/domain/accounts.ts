import { ifValid, isCount, optional, readFields } from "../dynamodb/invalid-items.ts";
import { accountKey } from "../dynamodb/keys.ts";
import { type Item, readItem } from "../dynamodb/table-client.ts";
import { ApiError } from "../errors.ts";

const isLimit = (value: unknown): value is number => isCount(value) && value > 0;

/** An invalid time freezes, too. */
const frozenSince = ({ frozenAt }: Item = {}) => (frozenAt === undefined ? undefined : String(frozenAt));

/** Since when an operator has frozen an account: until it is unfrozen, nothing writes for it. Undefined if it is not frozen. */
export const readFrozenAt = async (account: string) => frozenSince(await readItem(accountKey(account)));

/** What operators have set for an account. An invalid limit is none. */
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
    "This account takes no writes now, because it is moved or erased. Try again in 30 s.",
    { retryAfter: 30 },
  );
