import { frozenKey } from "../dynamodb/keys.ts";
import { readItem } from "../dynamodb/table-client.ts";
import { ApiError } from "../errors.ts";

/** Since when an operator has frozen an account: until it is unfrozen, nothing writes for it. Undefined if it is not frozen. */
export async function readFrozenAt(account: string): Promise<string | undefined> {
  const item = await readItem(frozenKey(account));
  return item && String(item.frozenAt);
}

/** The error for a write to a frozen account. */
export const accountFrozen = () =>
  new ApiError(
    "account_frozen",
    "This account takes no writes now, because it is moved or erased. Try again in 30 s.",
    { retryAfter: 30 },
  );
