import { localArn } from "../template/intrinsics.ts";
import { type Input, type RequestContext, readContext } from "./request-context.ts";

/** One access of a request, as IAM evaluates it: an action such as `dynamodb:PutItem`, and the ARN of its resource. */
export type AwsRequestAccess = ReturnType<typeof parseAccesses>[number];

/** Finds the partition key attribute of the table, or of one of its indexes. */
export type PartitionKeyLookup = (index?: string) => string | undefined;

/**
 * Lists the accesses that a request needs: one for most operations, one for each item of a transaction, each table of a
 * batch and each event.
 *
 * @throws Error when a query's partition key cannot be found
 */
export function parseAccesses(operation: string, input: Input, findPartitionKey: PartitionKeyLookup) {
  const toAccess = (name: string, input: Input) => {
    const index = input.IndexName as string | undefined;
    return {
      action: `dynamodb:${name}`,
      resource: localArn("dynamodb", `table/${input.TableName}${index ? `/index/${index}` : ""}`),
      context: readContext(name, input, findPartitionKey(index)),
    };
  };
  switch (operation) {
    case "TransactGetItems":
    case "TransactWriteItems":
      return (input.TransactItems as Record<string, Input>[]).flatMap((item) =>
        Object.entries(item).map(([kind, part]) => toAccess(`${kind}Item`, part)),
      );
    case "BatchGetItem":
      return Object.entries(input.RequestItems as Record<string, Input>).map(([TableName, requests]) =>
        toAccess(operation, { ...requests, TableName }),
      );
    case "PutEvents":
      return (input.Entries as readonly { readonly EventBusName: string }[]).map(({ EventBusName }) =>
        toOtherAccess("events:PutEvents", `event-bus/${EventBusName}`),
      );
    case "GetParameter":
      return [toOtherAccess("ssm:GetParameter", `parameter${input.Name}`)];
    case "ChangeMessageVisibility":
      return [toOtherAccess("sqs:ChangeMessageVisibility", `${input.QueueUrl}`)];
    case "SendMessage":
    case "SendMessageBatch":
      return [toOtherAccess("sqs:SendMessage", `${input.QueueUrl}`)];
    default:
      return [toAccess(operation, input)];
  }
}

/** An access to a service other than DynamoDB. The action begins with the service's name. */
const toOtherAccess = (action: string, resource: string) => ({
  action,
  resource: localArn(action.replace(/:.*/, ""), resource),
  context: {} as RequestContext,
});
