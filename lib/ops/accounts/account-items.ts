import { expiryAttribute, type ItemType } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import type { InvalidItems } from "../table/invalid-items.ts";
import { findOwner, isAccountId } from "../table/item-owner.ts";
import { scanTable } from "../table/read-items.ts";

/** Of an account without items. `others` are derived items, imported rows and the account. */
export const noItems = { leads: 0, conversations: 0, messages: 0, keys: 0, erasedLeads: 0, others: 0 };

const names: Partial<Record<ItemType, keyof typeof noItems>> = {
  lead: "leads",
  conversation: "conversations",
  message: "messages",
  apiKey: "keys",
  erasedLead: "erasedLeads",
};

/**
 * Counts the items of each account, except items that expire. Reads the whole table.
 *
 * @param invalid receives the items whose account has an invalid name
 */
export async function countAccounts(pace: Pace, invalid?: InvalidItems) {
  const accounts = new Map<string, typeof noItems & { frozen?: true }>();
  const onItems = (items: readonly Item[]) => {
    for (const item of items) {
      const owner = findOwner(item);
      if (!owner) continue;
      if (!isAccountId(owner.account)) {
        invalid?.note(item, "its account is not the id of an account");
        continue;
      }
      const counts = accounts.get(owner.account) ?? { ...noItems };
      counts[names[owner.type] ?? "others"] += 1;
      if (owner.type === "account" && item.frozenAt !== undefined) counts.frozen = true;
      accounts.set(owner.account, counts);
    }
  };
  const selection = {
    ProjectionExpression: "pk, sk, accountId, frozenAt",
    // Items that expire may be all that is left of an account.
    FilterExpression: `attribute_not_exists(${expiryAttribute})`,
  };
  await scanTable(selection, pace, onItems);
  return new Map([...accounts].sort(([a], [b]) => (a < b ? -1 : 1)));
}
