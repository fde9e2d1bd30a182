import { accountLimitKey } from "../dynamodb/keys.ts";
import { readItem } from "../dynamodb/table-client.ts";

/** Reads how many requests an account may make in a window; undefined if it has the limit of its stage. */
export async function readAccountLimit(account: string): Promise<number | undefined> {
  const item = await readItem(accountLimitKey(account));
  return item && Number(item.requests);
}
