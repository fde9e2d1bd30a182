import { itemTypes, readPartition } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { keysOnly } from "../../../shared/dynamodb/read-pages.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import {
  type CountedList,
  type CountedOwner,
  countedLists,
} from "../../../shared/pages/tree/counted-list.ts";
import { isAccountId, notAnAccount } from "./item-owner.ts";
import { scanTable, withoutExpiry } from "./read-items.ts";
import type { Note } from "./unreadable.ts";

/** The lists of an account. */
export const countedOwners = (account: string): CountedOwner[] =>
  Object.values(countedLists).map((list) => ({ account, list }));

/** What a tree counts: the source or channel of a sublist; nothing for a whole list. */
export const nameSublist = ({
  list,
  origin,
}: CountedOwner): Readonly<Partial<Record<CountedList["attribute"], string>>> =>
  origin === undefined ? {} : { [list.attribute]: decode(origin.split("#").at(-1) ?? "") };

/** A part of a key; one that no key has stays as it is stored. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * Reads the whole table.
 *
 * @param note called with items of what cannot be an account
 * @returns the lists with rows or with a tree, by account
 */
export async function readAllOwners(pace: Pace, note: Note = () => {}): Promise<CountedOwner[]> {
  const owners = new Map<string, CountedOwner>();
  const onItems = (items: readonly Item[]) => {
    for (const item of items) {
      const owner = findListOwner(String(item.pk));
      if (owner && !isAccountId(owner.account)) note(item, notAnAccount);
      else if (owner) owners.set(`${owner.account}#${owner.list.type}`, owner);
    }
  };
  await scanTable({ ...keysOnly, ...withoutExpiry }, pace, onItems);
  return [...owners].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, owner]) => owner);
}

/** The list of a partition with rows or with nodes of a tree. */
function findListOwner(pk: string): CountedOwner | undefined {
  const { itemType, account = "", others = [] } = readPartition(pk) ?? {};
  const [counted, ...rest] = itemType === itemTypes.count ? others : [itemType, ...others];
  const list = Object.values(countedLists).find(({ type }) => itemTypes[type] === counted);
  return list && rest.length === 0 ? { account, list } : undefined;
}
