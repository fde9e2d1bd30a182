import { expiryAttribute, type ItemType } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { findOwner, isAccountId } from "../table/item-owner.ts";
import { scanTable } from "../table/read-items.ts";

/** The numbers of an account's items by type. */
type Counts = Partial<Record<ItemType, number>>;

/** Counts the items of each account, except those that expire, or whose account has no valid name. Reads the whole table. */
export async function countAccounts(pace: Pace) {
  const accounts = new Map<string, { readonly counts: Counts; settings?: Item }>();
  const onItems = (items: readonly Item[]) => {
    for (const item of items) {
      const owner = findOwner(item);
      if (!owner || !isAccountId(owner.account)) continue;
      const { account, type } = owner;
      const found = accounts.get(account) ?? { counts: {} };
      found.counts[type] = (found.counts[type] ?? 0) + 1;
      if (type === "account") found.settings = { requests: item.requests, frozenAt: item.frozenAt };
      accounts.set(account, found);
    }
  };
  const selection = {
    ProjectionExpression: "pk, sk, accountId, requests, frozenAt",
    // Items that expire may be all that is left of an account.
    FilterExpression: `attribute_not_exists(${expiryAttribute})`,
  };
  await scanTable(selection, pace, onItems);
  return new Map([...accounts].sort(([a], [b]) => (a < b ? -1 : 1)));
}
