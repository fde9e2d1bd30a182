import { GetCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { countNodeKey, listPartition } from "../../../shared/dynamodb/keys.ts";
import { idTimestamp } from "../../../shared/ids.ts";
import type { MemoryTable } from "../../support/memory-table.ts";

const TableName = "overload";

/** When the oldest lead was created that the tree of an account has not counted; undefined if all are counted. */
export function oldestUncounted(memory: MemoryTable, account: string): number | undefined {
  const query = new QueryCommand({ ...uncounted(memory, account), Limit: 1 });
  const [row] = memory.execute(query).output.Items as { readonly sk: string }[];
  return row && idTimestamp(row.sk);
}

/** The number of leads of an account that its tree has not counted. */
export function countUncounted(memory: MemoryTable, account: string): number {
  let count = 0;
  let ExclusiveStartKey: Record<string, unknown> | undefined;
  do {
    const query = new QueryCommand({ ...uncounted(memory, account), Select: "COUNT", ExclusiveStartKey });
    const { output } = memory.execute(query);
    count += Number(output.Count);
    ExclusiveStartKey = output.LastEvaluatedKey as typeof ExclusiveStartKey;
  } while (ExclusiveStartKey);
  return count;
}

/** The generation of an account's tree, and of the one that a rebuild grows. */
export function generations(memory: MemoryTable, account: string) {
  const { generation, rebuilding } = readRootItem(memory, account) ?? {};
  return { generation, rebuilding };
}

function uncounted(memory: MemoryTable, account: string) {
  return {
    TableName,
    KeyConditionExpression: "pk = :pk AND sk >= :sk",
    // An empty sort key is before every other one.
    ExpressionAttributeValues: {
      ":pk": listPartition("lead", account),
      ":sk": readRootItem(memory, account)?.watermark ?? "",
    },
  };
}

function readRootItem(memory: MemoryTable, account: string) {
  const Key = countNodeKey("lead", account, "root");
  const { Item } = memory.execute(new GetCommand({ TableName, Key })).output as {
    readonly Item?: { readonly watermark: string; readonly generation: number; readonly rebuilding?: number };
  };
  return Item;
}
