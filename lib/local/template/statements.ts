import { UserError } from "../../user-error.ts";
import type { Properties } from "./intrinsics.ts";

/** A statement of an IAM policy that allows something of what the local run has. */
export type Statement = NonNullable<ReturnType<typeof readStatement>>;

/** A condition on a request to DynamoDB. */
export type Condition = ReturnType<typeof readKeyConditions>[number];

/** The condition keys that have several values in a request, and those that have one. */
const multivaluedKeys = ["dynamodb:LeadingKeys", "dynamodb:Attributes"] as const;
const singleKeys = ["dynamodb:ReturnValues", "dynamodb:Select"] as const;

/** A condition key that the local run finds in a request. */
export type ConditionKey = (typeof multivaluedKeys)[number] | (typeof singleKeys)[number];

/** The condition operators that the local run evaluates, each with the keys that it is meant for. */
const operators = {
  "ForAllValues:StringLike": multivaluedKeys,
  "ForAllValues:StringEquals": multivaluedKeys,
  "ForAllValues:StringNotEquals": multivaluedKeys,
  StringEqualsIfExists: singleKeys,
  Null: [...multivaluedKeys, ...singleKeys],
} as const satisfies Record<string, readonly ConditionKey[]>;

export type Operator = keyof typeof operators;

/**
 * Reads the statements about DynamoDB, event buses, queues and parameters from an IAM policy.
 *
 * @throws UserError for elements that the local run cannot evaluate, so that they never count as allowed
 */
export function readStatements({ PolicyDocument }: Properties): Statement[] {
  const { Statement: statements } = PolicyDocument as { Statement: Properties | Properties[] };
  return [statements].flat().flatMap((statement) => readStatement(statement) ?? []);
}

function readStatement(statement: Properties) {
  for (const element of ["NotAction", "NotResource"]) {
    if (element in statement)
      throw new UserError(`The local run cannot evaluate ${element} in a role's policy.`);
  }
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
  return Object.entries(keys).map(([key, values]) => {
    const evaluated: readonly string[] = operators[operator as Operator] ?? [];
    if (!evaluated.includes(key)) {
      throw new UserError(
        `The local run cannot evaluate the condition ${operator} on ${key} in a role's policy: add it to lib/local/template/statements.ts and lib/local/iam/check-iam-access.ts.`,
      );
    }
    return { operator: operator as Operator, key: key as ConditionKey, values: toList(values) };
  });
}

const toList = (value: unknown) => (Array.isArray(value) ? value : [value]).map(String);
