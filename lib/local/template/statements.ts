import { UserError } from "../../user-error.ts";
import type { Properties } from "./intrinsics.ts";

/** A statement of an IAM policy about services that the local run has. */
export type Statement = NonNullable<ReturnType<typeof readStatement>>;

/** A condition on a request to DynamoDB. */
export type Condition = ReturnType<typeof readKeyConditions>[number];

/** The condition keys that the local run finds in a request, and whether each can have several values. */
const conditionKeys = {
  "dynamodb:LeadingKeys": true,
  "dynamodb:Attributes": true,
  "dynamodb:ReturnValues": false,
  "dynamodb:Select": false,
};

export type ConditionKey = keyof typeof conditionKeys;

type Values = readonly string[];

/**
 * The operators. Each takes the values of the request and those of the policy, and returns the values that it refuses. Like
 * `ForAllValues`, `IfExists` holds for a key that the request does not have.
 *
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html
 */
const operators: Readonly<Record<string, (present: Values, values: Values) => Values>> = {
  "ForAllValues:StringLike": (present, values) =>
    present.filter((value) => !values.some((pattern) => isLike(pattern, value))),
  "ForAllValues:StringEquals": (present, values) => present.filter((value) => !values.includes(value)),
  "ForAllValues:StringNotEquals": (present, values) => present.filter((value) => values.includes(value)),
  StringEqualsIfExists: (present, values) => present.filter((value) => !values.includes(value)),
  Null: (present, values) => (values.includes(String(present.length === 0)) ? [] : ["in the request"]),
};

/** IAM's string matching: `*` matches any run of characters, `?` any single one. */
export function isLike(pattern: string, text: string): boolean {
  const source = RegExp.escape(pattern).replaceAll("\\*", ".*").replaceAll("\\?", ".");
  return new RegExp(`^${source}$`, "s").test(text);
}

/**
 * Reads the statements about DynamoDB, event buses, queues and parameters from an IAM policy.
 *
 * @throws UserError for elements that the local run cannot evaluate, so that they never count as allowed
 */
export function readStatements({ PolicyDocument }: Properties): Statement[] {
  const { Statement } = PolicyDocument as { readonly Statement: readonly Properties[] };
  return Statement.flatMap((statement) => readStatement(statement) ?? []);
}

function readStatement(statement: Properties) {
  const element = ["NotAction", "NotResource"].find((name) => name in statement);
  if (element) throw new UserError(`The local run cannot evaluate ${element} in a role's policy.`);
  if (statement.Effect !== "Allow")
    throw new UserError("The local run cannot evaluate a role's policy that denies something.");
  const actions = toList(statement.Action).filter((action) =>
    /^(\*|(dynamodb|events|sqs|ssm):)/i.test(action),
  );
  if (actions.length === 0) return undefined;
  const conditions = (statement.Condition ?? {}) as Readonly<Record<string, Properties>>;
  return {
    actions,
    resources: toList(statement.Resource),
    /** All of them must hold. */
    conditions: Object.entries(conditions).flatMap(readKeyConditions),
  };
}

function readKeyConditions([operator, keys]: [string, Properties]) {
  const refuse = operators[operator];
  return Object.entries(keys).map(([key, values]) => {
    const isMultivalued = conditionKeys[key as ConditionKey];
    const isMeant = operator === "Null" || operator.startsWith("ForAllValues:") === isMultivalued;
    if (!refuse || isMultivalued === undefined || !isMeant)
      throw new UserError(
        `The local run cannot evaluate the condition ${operator} on ${key} in a role's policy: add it to lib/local/template/statements.ts.`,
      );
    return { key: key as ConditionKey, refuse: (present: Values) => refuse(present, toList(values)) };
  });
}

const toList = (value: unknown) => (Array.isArray(value) ? value : [value]).map(String);
