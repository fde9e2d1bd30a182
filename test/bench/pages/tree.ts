import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { countNodeKey, nodePrefix } from "../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { itemSize } from "./item-size.ts";

/** The size of the tree of a whole list. */
export interface TreeSize {
  /** Levels of nodes below the root. */
  readonly levels: number;
  readonly nodes: number;
  /** In bytes, as DynamoDB counts an item. */
  readonly rootBytes: number;
  readonly largestNodeBytes: number;
}

export async function treeSize(account: string, type: "lead" | "conversation" = "lead"): Promise<TreeSize> {
  const sizes = new Map<string, number>();
  let position: Record<string, unknown> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await table.send(
      new QueryCommand({
        TableName: tableName,
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: { ":pk": countNodeKey(type, account, "").pk },
        ExclusiveStartKey: position,
      }),
    );
    for (const item of Items) sizes.set(String(item.sk), itemSize(item));
    position = LastEvaluatedKey;
  } while (position);
  const nodes = [...sizes].filter(([name]) => name.startsWith(nodePrefix));
  return {
    levels: Math.max(0, ...nodes.map(([name]) => Number(name.split("#")[2]))),
    nodes: nodes.length,
    rootBytes: sizes.get("root") ?? 0,
    largestNodeBytes: Math.max(0, ...nodes.map(([, bytes]) => bytes)),
  };
}
