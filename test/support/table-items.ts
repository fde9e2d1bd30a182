import { isDeepStrictEqual } from "node:util";
import { BatchWriteCommand, DeleteCommand, PutCommand, paginateScan } from "@aws-sdk/lib-dynamodb";
import { type Item, type Key, table, tableName } from "../../shared/dynamodb/table-client.ts";

/** All items of the table, by their keys. */
export async function tableItems(): Promise<ReadonlyMap<string, Item>> {
  const items = new Map<string, Item>();
  for await (const { Items = [] } of paginateScan({ client: table }, { TableName: tableName }))
    for (const item of Items) items.set(`${item.pk} ${item.sk}`, item);
  return items;
}

/** Stores an item, which the API may not have made. */
export const put = (Item: object) => table.send(new PutCommand({ TableName: tableName, Item: { ...Item } }));

export const remove = ({ pk, sk }: Item | Key) =>
  table.send(new DeleteCommand({ TableName: tableName, Key: { pk, sk } }));

/** Writes items to a table. A test can leave some of a batch. */
export async function putItems(TableName: string, items: readonly Item[]) {
  let puts: readonly object[] = items.map((Item) => ({ PutRequest: { Item } }));
  while (puts.length > 0) {
    const batch = new BatchWriteCommand({ RequestItems: { [TableName]: puts.slice(0, 25) } });
    const { UnprocessedItems } = await table.send(batch);
    puts = [...(UnprocessedItems?.[TableName] ?? []), ...puts.slice(25)];
  }
}

/** The keys of the items that are not the same in both, by what has become of them. */
export function compareItems(before: ReadonlyMap<string, Item>, after: ReadonlyMap<string, Item>) {
  const keys = [...new Set([...before.keys(), ...after.keys()])].sort();
  return {
    added: keys.filter((key) => !before.has(key)),
    changed: keys.filter((key) => {
      const [was, is] = [before.get(key), after.get(key)];
      return was !== undefined && is !== undefined && !isDeepStrictEqual(was, is);
    }),
    deleted: keys.filter((key) => !after.has(key)),
  };
}
