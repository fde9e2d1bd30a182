import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import { itemTypes, readPartition } from "../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import type { CountedOwner } from "../../../shared/pages/tree/counted-list.ts";
import { countedLists } from "../../../shared/pages/tree/counted-list.ts";
import type { Pace } from "../pace.ts";

/** Reads the whole table. @returns the lists with rows or with a tree, by account */
export async function readAllOwners(pace: Pace): Promise<CountedOwner[]> {
  const owners = new Map<string, CountedOwner>();
  let position: Record<string, unknown> | undefined;
  do {
    const scan = new ScanCommand({
      TableName: tableName,
      ProjectionExpression: "pk",
      ExclusiveStartKey: position,
      ReturnConsumedCapacity: "TOTAL",
    });
    const { Items = [], LastEvaluatedKey, ConsumedCapacity } = await pace.retry(() => table.send(scan));
    for (const pk of new Set(Items.map((item) => String(item.pk)))) {
      const owner = findOwner(pk);
      if (owner) owners.set(`${owner.account}#${owner.list.type}`, owner);
    }
    position = LastEvaluatedKey;
    await pace.spend(ConsumedCapacity?.CapacityUnits ?? 0);
  } while (position);
  return [...owners].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, owner]) => owner);
}

/** Reads the whole table. @returns the accounts with rows or with a tree, sorted */
export async function readAllAccounts(pace: Pace): Promise<string[]> {
  const owners = await readAllOwners(pace);
  return [...new Set(owners.map(({ account }) => account))].sort();
}

/** The lists of an account. */
export const countedOwners = (account: string): CountedOwner[] =>
  Object.values(countedLists).map((list) => ({ account, list }));

/** The list of a partition with rows or with nodes of a tree. */
function findOwner(pk: string): CountedOwner | undefined {
  const { itemType, account = "", others = [] } = readPartition(pk) ?? {};
  const [counted, ...rest] = itemType === itemTypes.count ? others : [itemType, ...others];
  const list = Object.values(countedLists).find(({ type }) => itemTypes[type] === counted);
  return list && rest.length === 0 ? { account, list } : undefined;
}
