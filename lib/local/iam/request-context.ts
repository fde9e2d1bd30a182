import type { ConditionKey } from "../template/statements.ts";

/** The values of the condition keys; a key that the request does not have is missing or has no values. */
export type RequestContext = Readonly<Partial<Record<ConditionKey, readonly string[]>>>;

/** The JSON of a request to DynamoDB, or of an item of a transaction. */
export type Input = Readonly<Record<string, unknown>>;

const reads = new Set(["GetItem", "BatchGetItem", "Query", "Scan"]);

/**
 * The condition keys of one access, as DynamoDB passes them to IAM.
 *
 * @param operation such as `PutItem`, for an item of a transaction too
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
 */
export function readContext(operation: string, input: Input, leadingKeys: readonly string[]): RequestContext {
  return {
    "dynamodb:LeadingKeys": leadingKeys,
    "dynamodb:Attributes": readAttributes(input),
    ...(reads.has(operation)
      ? { "dynamodb:Select": [readSelect(input)] }
      : { "dynamodb:ReturnValues": readReturnValues(input) }),
  };
}

/** Parameters whose fields are attributes, or a list of such parameters. */
const itemParameters = ["Key", "Keys", "Item"];

const expressionParameters = [
  "ProjectionExpression",
  "ConditionExpression",
  "UpdateExpression",
  "KeyConditionExpression",
  "FilterExpression",
];

/** Every attribute that a request names, in a condition too, once. */
function readAttributes(input: Input): string[] {
  const items = itemParameters.flatMap((name) => input[name] ?? []) as object[];
  const names = (input.ExpressionAttributeNames ?? {}) as Readonly<Record<string, string>>;
  const inExpressions = expressionParameters
    .flatMap((parameter) => parseNames(String(input[parameter] ?? "")))
    .map((name) => names[name] ?? name);
  return [...new Set([...items.flatMap(Object.keys), ...inExpressions])];
}

const keywords = /^(?:SET|REMOVE|ADD|DELETE|AND|OR|NOT|BETWEEN|IN)$/i;

/** The attributes of an expression, without functions, values and what follows a dot: a part of an attribute. */
const parseNames = (expression: string) =>
  [...expression.matchAll(/(?<![\w:.#])(?:#\w+|[A-Za-z_]\w*)\b(?!\s*\()/g)]
    .map(([name]) => name)
    .filter((name) => !keywords.test(name));

/** What a read returns; by default all that the table, or the index, has of its items. */
const readSelect = ({ Select, ProjectionExpression }: Input) =>
  String(Select ?? (ProjectionExpression ? "SPECIFIC_ATTRIBUTES" : "ALL_ATTRIBUTES"));

/** What a write returns, and what it returns if its condition fails. */
const readReturnValues = ({ ReturnValues, ReturnValuesOnConditionCheckFailure }: Input) =>
  [ReturnValues ?? "NONE", ReturnValuesOnConditionCheckFailure ?? []].flat().map(String);
