import { localAccountId, localRegion } from "../template/intrinsics.ts";
import type { Access } from "./iam-policy.ts";

/** The partition key attribute of a table, or of one of its indexes. */
export type PartitionKeyLookup = (index?: string) => string | undefined;

type AttributeValue = Record<string, string>;
type Item = Record<string, AttributeValue>;
type Input = Record<string, unknown>;

const tableArn = (table: unknown, index?: unknown) => {
  const name = String(table).replace(/^arn:.*:table\//, "");
  const arn = `arn:aws:dynamodb:${localRegion}:${localAccountId}:table/${name}`;
  return index === undefined ? arn : `${arn}/index/${index}`;
};

/** The IAM action of each kind of item in `TransactWriteItems`. */
const transactionActions: Readonly<Record<string, string>> = {
  Put: "PutItem",
  Update: "UpdateItem",
  Delete: "DeleteItem",
  ConditionCheck: "ConditionCheckItem",
  Get: "GetItem",
};

/**
 * What a request to DynamoDB needs to be allowed: one access for most operations, one for each item of a transaction,
 * one for each table of a batch.
 *
 * @throws Error when the partition key of a query cannot be told
 */
export function parseAccesses(
  operation: string,
  input: Input,
  partitionKeyAttribute: PartitionKeyLookup,
): Access[] {
  const partitionKeys = (items: readonly (Item | undefined)[]) => {
    const attribute = partitionKeyAttribute() ?? "";
    return items.flatMap((item) => Object.values(item?.[attribute] ?? {}));
  };
  const single = (
    name: string,
    { TableName, Key, Item, IndexName }: Input,
    leadingKeys?: string[],
  ): Access => ({
    action: `dynamodb:${name}`,
    resource: tableArn(TableName, IndexName),
    leadingKeys: leadingKeys ?? partitionKeys([(Key ?? Item) as Item | undefined]),
  });

  switch (operation) {
    case "Query":
      return [single(operation, input, [queriedKey(input, partitionKeyAttribute)])];
    case "TransactGetItems":
    case "TransactWriteItems":
      return (input.TransactItems as Record<string, Input>[]).flatMap((item) =>
        Object.entries(item).map(([kind, part]) => single(transactionActions[kind] ?? kind, part)),
      );
    case "BatchGetItem":
    case "BatchWriteItem":
      return Object.entries(input.RequestItems as Record<string, unknown>).map(([TableName, requests]) =>
        single(operation, { TableName }, partitionKeys(batchItems(requests))),
      );
    default:
      return [single(operation, input)];
  }
}

function batchItems(requests: unknown): (Item | undefined)[] {
  if (!Array.isArray(requests)) return (requests as { Keys: Item[] }).Keys;
  return requests.map(
    ({ PutRequest, DeleteRequest }) => (PutRequest?.Item ?? DeleteRequest?.Key) as Item | undefined,
  );
}

/** The value that a query's key condition asks of the partition key. */
function queriedKey(input: Input, partitionKeyAttribute: PartitionKeyLookup): string {
  const attribute = partitionKeyAttribute(input.IndexName as string | undefined);
  const names = (input.ExpressionAttributeNames ?? {}) as Record<string, string>;
  const values = (input.ExpressionAttributeValues ?? {}) as Item;
  for (const [, name = "", value = ""] of String(input.KeyConditionExpression).matchAll(
    /([#\w.-]+)\s*=\s*(:\w+)/g,
  )) {
    const [key] = (names[name] ?? name) === attribute ? Object.values(values[value] ?? {}) : [];
    if (key !== undefined) return key;
  }
  throw new Error("The partition key of the query cannot be told from its KeyConditionExpression.");
}
