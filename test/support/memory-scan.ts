import type { ScanCommandInput } from "@aws-sdk/lib-dynamodb";
import { hashName } from "../../shared/dynamodb/keys.ts";
import type { Item } from "../../shared/dynamodb/table-client.ts";
import type { MemoryTable } from "./memory-table.ts";

const place = ({ pk, sk }: Item) => `${hashName(String(pk))} ${sk}`;

/** A page of a scan of a table in memory: partitions come in the order of their hashes. It begins after any key. */
export function scanPage(memory: MemoryTable, { ExclusiveStartKey }: ScanCommandInput, size = 50) {
  const start = ExclusiveStartKey ? place(ExclusiveStartKey) : "";
  const after = [...memory.items()]
    .filter((item) => place(item) > start)
    .sort((a, b) => (place(a) < place(b) ? -1 : 1));
  const Items = after.slice(0, size);
  const { pk, sk } = Items.at(-1) ?? {};
  return { Items, ...(after.length > size && { LastEvaluatedKey: { pk, sk } }) };
}
