import type { ScanCommandInput } from "@aws-sdk/lib-dynamodb";
import { hashName } from "../../shared/dynamodb/keys.ts";
import type { Item } from "../../shared/dynamodb/table-client.ts";
import type { MemoryTable } from "./memory-table.ts";

const place = ({ pk, sk }: Item) => `${hashName(String(pk))} ${sk}`;

/** A page of a scan of a table in memory: partitions come in the order of their hashes. It begins after any key. */
export function scanPage(memory: MemoryTable, { ExclusiveStartKey }: ScanCommandInput, size = 50) {
  const start = ExclusiveStartKey ? place(ExclusiveStartKey) : "";
  const places = new Map([...memory.items()].map((item) => [place(item), item]));
  const after = [...places.keys()].filter((each) => each > start).sort();
  const Items: Item[] = after.slice(0, size).flatMap((each) => places.get(each) ?? []);
  const { pk, sk } = Items.at(-1) ?? {};
  return { Items, ...(after.length > size && { LastEvaluatedKey: { pk, sk } }) };
}
