import type { ItemType } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import type { InvalidItems } from "../table/invalid-items.ts";
import { findOwner, isAccountId } from "../table/item-owner.ts";
import { scanTable, withoutExpiry } from "../table/read-items.ts";

/** The number of items of each type, and whether the account is frozen. */
type ItemCounts = Partial<Record<ItemType | "frozen", number>>;

/**
 * Counts the items of each account, except items that expire. Reads the whole table.
 *
 * @param invalid receives the items whose account has an invalid name
 */
export async function countAccounts(pace: Pace, invalid?: InvalidItems) {
  const accounts = new Map<string, ItemCounts>();
  const onItems = (items: readonly Item[]) => {
    for (const item of items) {
      const owner = findOwner(item);
      if (!owner) continue;
      if (!isAccountId(owner.account)) {
        invalid?.note(item, "its account is not the id of an account");
        continue;
      }
      const counts = accounts.get(owner.account) ?? {};
      counts[owner.type] = (counts[owner.type] ?? 0) + 1;
      if (owner.type === "account" && item.frozenAt !== undefined) counts.frozen = 1;
      accounts.set(owner.account, counts);
    }
  };
  const selection = { ProjectionExpression: "pk, sk, accountId, frozenAt", ...withoutExpiry };
  await scanTable(selection, pace, onItems);
  return new Map([...accounts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The numbers of an account's items, and whether it is frozen. `others` are derived items, imported rows and the account. */
export function nameItemCounts(counts: ItemCounts) {
  const { lead = 0, conversation = 0, message = 0, apiKey = 0, erasedLead = 0, frozen, ...rest } = counts;
  const others = Object.values(rest).reduce((sum, number) => sum + number, 0);
  return {
    leads: lead,
    conversations: conversation,
    messages: message,
    keys: apiKey,
    erasedLeads: erasedLead,
    others,
    ...(frozen && { frozen: true }),
  };
}
