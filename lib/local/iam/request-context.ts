import type { ConditionKey } from "../template/statements.ts";

/** The values of the condition keys. A key that the request does not have is missing or has no values. */
export type RequestContext = Readonly<Partial<Record<ConditionKey, readonly string[]>>>;

/** The JSON of a request to DynamoDB, or of an item of a transaction. */
export type Input = Readonly<Record<string, unknown>>;

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
export const readContext = (operation: string, input: Input, partitionKey?: string): RequestContext => ({
  "dynamodb:LeadingKeys": readLeadingKeys(operation, input, partitionKey),
  "dynamodb:Attributes": readAttributes(input),
  ...(reads.has(operation)
    ? { "dynamodb:Select": [readSelect(input)] }
    : { "dynamodb:ReturnValues": readReturnValues(input) }),
});

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

/** Every attribute that a request names, also in conditions, without duplicates. */
function readAttributes(input: Input): string[] {
  const names = readNames(input);
  const inExpressions = expressionParameters
    .flatMap((parameter) => parseNames(String(input[parameter] ?? "")))
    .map((name) => names[name] ?? name);
  return [...new Set([...readItems(input).flatMap(Object.keys), ...inExpressions])];
}

const keywords = /^(?:SET|REMOVE|ADD|DELETE|AND|OR|NOT|BETWEEN|IN)$/i;

/** The attributes that an expression names, without functions, values and paths after a dot. */
const parseNames = (expression: string) =>
  [...expression.matchAll(/(?<![\w:.#])(?:#\w+|[A-Za-z_]\w*)\b(?!\s*\()/g)]
    .map(([name]) => name)
    .filter((name) => !keywords.test(name));

/** What a read returns, by default all attributes that the table or the index has. */
const readSelect = ({ Select, ProjectionExpression }: Input) =>
  String(Select ?? (ProjectionExpression ? "SPECIFIC_ATTRIBUTES" : "ALL_ATTRIBUTES"));

/** What a write returns, and what it returns if its condition fails. */
const readReturnValues = ({ ReturnValues, ReturnValuesOnConditionCheckFailure }: Input) =>
  [ReturnValues ?? "NONE", ReturnValuesOnConditionCheckFailure ?? []].flat().map(String);
