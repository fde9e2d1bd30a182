import { busArn, parameterArn, queueArn, tableArn } from "../template/intrinsics.ts";
import { type Input, type RequestContext, readContext } from "./request-context.ts";

/** One access of a request, as IAM evaluates it. */
export interface AwsRequestAccess {
  /** Such as `dynamodb:PutItem`. */
  readonly action: string;
  /** The ARN of the table or of its index, of the event bus or of the queue. */
  readonly resource: string;
  readonly context: RequestContext;
}

/** Finds the partition key attribute of the table, or of one of its indexes. */
export type PartitionKeyLookup = (index?: string) => string | undefined;

type AttributeValue = Readonly<Record<string, string>>;
type AttributeMap = Readonly<Record<string, AttributeValue>>;

/** The IAM action for each kind of item in a transaction. */
const transactionActions: Readonly<Record<string, string>> = {
  Get: "GetItem",
  Put: "PutItem",
  Update: "UpdateItem",
  Delete: "DeleteItem",
  ConditionCheck: "ConditionCheckItem",
};

/**
 * Lists the accesses that a request needs: one for most operations, one for each item of a transaction, each table of a
 * batch and each event.
 *
 * @throws Error when a query's partition key cannot be found
 */
export function parseAccesses(
  operation: string,
  input: Input,
  findPartitionKey: PartitionKeyLookup,
): AwsRequestAccess[] {
  const partitionKeys = (items: readonly (AttributeMap | undefined)[]) => {
    const attribute = findPartitionKey() ?? "";
    return items.flatMap((item) => Object.values(item?.[attribute] ?? {}));
  };
  const toAccess = (
    name: string,
    input: Input,
    leadingKeys = partitionKeys([(input.Key ?? input.Item) as AttributeMap | undefined]),
  ): AwsRequestAccess => ({
    action: `dynamodb:${name}`,
    resource: buildArn(input.TableName, input.IndexName),
    context: readContext(name, input, leadingKeys),
  });

  switch (operation) {
    case "Query":
      return [toAccess(operation, input, [findQueriedKey(input, findPartitionKey)])];
    case "TransactGetItems":
    case "TransactWriteItems":
      return (input.TransactItems as Record<string, Input>[]).flatMap((item) =>
        Object.entries(item).map(([kind, part]) => toAccess(transactionActions[kind] ?? kind, part)),
      );
    case "BatchGetItem":
      return Object.entries(input.RequestItems as Record<string, Input>).map(([TableName, requests]) =>
        toAccess(
          operation,
          { ...requests, TableName },
          partitionKeys(requests.Keys as readonly AttributeMap[]),
        ),
      );
    case "PutEvents":
      return (input.Entries as readonly { readonly EventBusName: string }[]).map(({ EventBusName }) => ({
        action: "events:PutEvents",
        resource: busArn + EventBusName,
        context: {},
      }));
    case "GetParameter":
      return [{ action: "ssm:GetParameter", resource: parameterArn + input.Name, context: {} }];
    case "ChangeMessageVisibility":
      return [
        { action: "sqs:ChangeMessageVisibility", resource: `${queueArn}${input.QueueUrl}`, context: {} },
      ];
    case "SendMessage":
    case "SendMessageBatch":
      return [{ action: "sqs:SendMessage", resource: `${queueArn}${input.QueueUrl}`, context: {} }];
    default:
      return [toAccess(operation, input)];
  }
}

function buildArn(table: unknown, index: unknown): string {
  const arn = `${tableArn}${table}`;
  return index === undefined ? arn : `${arn}/index/${index}`;
}

/** Finds the value that a query's key condition compares the partition key with. */
function findQueriedKey(input: Input, findPartitionKey: PartitionKeyLookup): string {
  const attribute = findPartitionKey(input.IndexName as string | undefined);
  const names = (input.ExpressionAttributeNames ?? {}) as Record<string, string>;
  const values = (input.ExpressionAttributeValues ?? {}) as AttributeMap;
  for (const [, name = "", value = ""] of String(input.KeyConditionExpression).matchAll(
    /([#\w.-]+)\s*=\s*(:\w+)/g,
  )) {
    const [key] = (names[name] ?? name) === attribute ? Object.values(values[value] ?? {}) : [];
    if (key !== undefined) return key;
  }
  throw new Error("The query's KeyConditionExpression does not name its partition key.");
}
