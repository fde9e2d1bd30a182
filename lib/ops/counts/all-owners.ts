import { itemTypes, readPartition } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import {
  type CountedList,
  type CountedOwner,
  countedLists,
} from "../../../shared/pages/tree/counted-list.ts";
import { scanTable, withoutExpiry } from "../common/read-items.ts";

/** The lists of an account. */
export const countedOwners = (account: string): CountedOwner[] =>
  Object.values(countedLists).map((list) => ({ account, list }));

/** What a tree counts: the source or channel of a sublist; nothing for a whole list. */
export const describeSublist = ({
  list,
  origin,
}: CountedOwner): Readonly<Partial<Record<CountedList["attribute"], string>>> =>
  origin === undefined ? {} : { [list.attribute]: decodeURIComponent(origin.split("#").at(-1) ?? "") };

/** Reads the whole table. @returns the lists with rows or with a tree, by account */
export async function readAllOwners(pace: Pace): Promise<CountedOwner[]> {
  const owners = new Map<string, CountedOwner>();
  const onItems = (items: readonly Item[]) => {
    for (const { pk } of items) {
      const owner = findOwner(String(pk));
      if (owner) owners.set(`${owner.account}#${owner.list.type}`, owner);
    }
  };
  await scanTable({ ProjectionExpression: "pk", ...withoutExpiry }, { pace, onItems });
  return [...owners].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, owner]) => owner);
}

/** The list of a partition with rows or with nodes of a tree. */
function findOwner(pk: string): CountedOwner | undefined {
  const { itemType, account = "", others = [] } = readPartition(pk) ?? {};
  const [counted, ...rest] = itemType === itemTypes.count ? others : [itemType, ...others];
  const list = Object.values(countedLists).find(({ type }) => itemTypes[type] === counted);
  return list && rest.length === 0 ? { account, list } : undefined;
}
