import { isDeepStrictEqual } from "node:util";
import { DeleteCommand, PutCommand, paginateScan } from "@aws-sdk/lib-dynamodb";
import { type Item, type Key, table, tableName } from "../../../shared/dynamodb/table-client.ts";

/** All items of the table, by their keys. */
export async function tableItems(): Promise<ReadonlyMap<string, Item>> {
  const items = new Map<string, Item>();
  for await (const { Items = [] } of paginateScan({ client: table }, { TableName: tableName }))
    for (const item of Items) items.set(`${item.pk} ${item.sk}`, item);
  return items;
}

/** Stores an item, also one that the API would not store. */
export const put = (Item: object, TableName = tableName) =>
  table.send(new PutCommand({ TableName, Item: { ...Item } }));

export const remove = ({ pk, sk }: Item | Key) =>
  table.send(new DeleteCommand({ TableName: tableName, Key: { pk, sk } }));

/** The keys of the items that differ, by the kind of change. */
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
