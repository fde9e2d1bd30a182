import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { countNodeKey } from "../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { countedLists } from "../../../shared/pages/tree/counted-list.ts";
import { readRoot } from "../../../shared/pages/tree/tree-store.ts";
import { itemSize } from "./item-size.ts";

/** The size of a tree. */
export interface TreeSize {
  /** Levels of nodes below the root. */
  readonly levels: number;
  readonly nodes: number;
  /** In bytes, as DynamoDB counts an item. */
  readonly rootBytes: number;
  readonly largestNodeBytes: number;
}

export async function treeSize(account: string): Promise<TreeSize> {
  const root = await readRoot({ account, list: countedLists.lead });
  const sizes = new Map<string, number>();
  let position: Record<string, unknown> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await table.send(
      new QueryCommand({
        TableName: tableName,
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: { ":pk": countNodeKey("lead", account, "").pk },
        ExclusiveStartKey: position,
      }),
    );
    for (const item of Items) sizes.set(String(item.sk), itemSize(item));
    position = LastEvaluatedKey;
  } while (position);
  const rootBytes = sizes.get("root") ?? 0;
  sizes.delete("root");
  return {
    levels: root?.level ?? 0,
    nodes: sizes.size,
    rootBytes,
    largestNodeBytes: Math.max(0, ...sizes.values()),
  };
}
