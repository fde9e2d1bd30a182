import { itemTypes, readPartition } from "../../../shared/dynamodb/keys.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import type { CountedOwner } from "../../../shared/pages/tree/counted-list.ts";
import { countedLists } from "../../../shared/pages/tree/counted-list.ts";
import type { Pace } from "../common/pace.ts";
import { scanTable, withoutExpiry } from "../common/read-items.ts";

/** A list with its number of rows. */
export interface SizedOwner extends CountedOwner {
  readonly rows: number;
}

/** Reads the whole table. @returns the lists with rows or with a tree, by account */
export async function readAllOwners(pace: Pace): Promise<SizedOwner[]> {
  const owners = new Map<string, SizedOwner>();
  const onItems = (items: readonly Item[]) => {
    for (const { pk } of items) {
      const found = findOwner(String(pk));
      if (!found) continue;
      const name = `${found.account}#${found.list.type}`;
      const { rows = 0 } = owners.get(name) ?? {};
      owners.set(name, { ...found, rows: rows + found.rows });
    }
  };
  await scanTable({ ProjectionExpression: "pk", ...withoutExpiry }, { pace, onItems });
  return [...owners].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, owner]) => owner);
}

/** The lists of an account. */
export const countedOwners = (account: string): CountedOwner[] =>
  Object.values(countedLists).map((list) => ({ account, list }));

/** The list of a partition with rows or with nodes of a tree. An item of it is one row, or none. */
function findOwner(pk: string): SizedOwner | undefined {
  const { itemType, account = "", others = [] } = readPartition(pk) ?? {};
  const isNode = itemType === itemTypes.count;
  const [counted, ...rest] = isNode ? others : [itemType, ...others];
  const list = Object.values(countedLists).find(({ type }) => itemTypes[type] === counted);
  return list && rest.length === 0 ? { account, list, rows: isNode ? 0 : 1 } : undefined;
}
