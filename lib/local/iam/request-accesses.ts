import { localArn } from "../template/intrinsics.ts";
import type { ConditionKey } from "../template/statements.ts";
import type { TableDefinition } from "../template/table-definition.ts";

/** One access of a request, as IAM evaluates it: an action such as `dynamodb:PutItem`, and the ARN of its resource. */
export interface AwsRequestAccess {
  readonly action: string;
  readonly resource: string;
  /** The values of the condition keys. A key that the request does not have is missing or has no values. */
  readonly context: Readonly<Partial<Record<ConditionKey, readonly string[]>>>;
}

/** The JSON of a request to AWS, or of an item of a transaction. */
type Input = Readonly<Record<string, unknown>>;

/**
 * Lists the accesses that a request needs: one for most operations, one for each item of a transaction, each table of a
 * batch and each event.
 *
 * @throws Error when a query's partition key cannot be found
 */
export function parseAccesses(
  operation: string,
  input: Input,
  findPartitionKey: TableDefinition["findPartitionKey"],
): readonly AwsRequestAccess[] {
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
      return (input.Entries as readonly Input[]).map(({ EventBusName }) =>
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
  context: {},
});

type AttributeMap = Readonly<Record<string, Readonly<Record<string, string>>>>;

const reads = new Set(["GetItem", "BatchGetItem", "Query", "Scan"]);

/**
 * The condition keys of one access, as DynamoDB passes them to IAM.
 *
 * @param operation such as `PutItem`, also for an item of a transaction
 * @param partitionKey the partition key attribute of the table or of the index
 * @throws Error when a query's partition key cannot be found
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
 */
function readContext(operation: string, input: Input, partitionKey?: string): AwsRequestAccess["context"] {
  const { Select, ProjectionExpression, ReturnValues = "NONE", ReturnValuesOnConditionCheckFailure } = input;
  /** What a read returns, by default all attributes that the table or the index has. */
  const selected = Select ?? (ProjectionExpression ? "SPECIFIC_ATTRIBUTES" : "ALL_ATTRIBUTES");
  /** What a write returns, and what it returns if its condition fails. */
  const returned = [ReturnValues, ReturnValuesOnConditionCheckFailure ?? []].flat();
  return {
    "dynamodb:LeadingKeys": readLeadingKeys(operation, input, partitionKey),
    "dynamodb:Attributes": readAttributes(input),
    ...(reads.has(operation)
      ? { "dynamodb:Select": [String(selected)] }
      : { "dynamodb:ReturnValues": returned.map(String) }),
  };
}

/** The items, and the keys of items, that a request contains. */
const readItems = (input: Input) =>
  ["Key", "Keys", "Item"].flatMap((name) => (input[name] ?? []) as AttributeMap | AttributeMap[]);

const readNames = ({ ExpressionAttributeNames }: Input) =>
  (ExpressionAttributeNames ?? {}) as Readonly<Record<string, string>>;

/** The partition keys of the items, or the value that a query's key condition compares the partition key with. */
function readLeadingKeys(operation: string, input: Input, partitionKey = ""): readonly string[] {
  if (operation !== "Query")
    return readItems(input).flatMap((item) => Object.values(item[partitionKey] ?? {}));
  const names = readNames(input);
  const values = (input.ExpressionAttributeValues ?? {}) as AttributeMap;
  for (const [, name = "", value = ""] of String(input.KeyConditionExpression).matchAll(
    /([#\w.-]+)\s*=\s*(:\w+)/g,
  )) {
    const [key] = (names[name] ?? name) === partitionKey ? Object.values(values[value] ?? {}) : [];
    if (key !== undefined) return [key];
  }
  throw new Error("The query's KeyConditionExpression does not name its partition key.");
}

const expressionParameters = [
  "ProjectionExpression",
  "ConditionExpression",
  "UpdateExpression",
  "KeyConditionExpression",
  "FilterExpression",
];

const keywords = /^(?:SET|REMOVE|ADD|DELETE|AND|OR|NOT|BETWEEN|IN)$/i;

/** Every attribute that a request names, also in conditions: without duplicates, functions and paths after a dot. */
function readAttributes(input: Input): string[] {
  const names = readNames(input);
  // Behind a comma, a parenthesis does not make a function of the name before it.
  const expressions = expressionParameters.map((parameter) => input[parameter] ?? "").join(", ");
  const named = [...expressions.matchAll(/(?<![\w:.#])(?:#\w+|[A-Za-z_]\w*)\b(?!\s*\()/g)]
    .map(([name]) => name)
    .filter((name) => !keywords.test(name))
    .map((name) => names[name] ?? name);
  return [...new Set([...readItems(input).flatMap(Object.keys), ...named])];
}
