import { UserError } from "../../errors.ts";
import type { Properties, Resolve } from "./intrinsics.ts";

/** A statement of an IAM policy about DynamoDB, with every intrinsic function resolved. */
export interface Statement {
  readonly effect: "Allow" | "Deny";
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  /** The conditions on the partition keys of a request; each key must match all of them. */
  readonly leadingKeys: readonly LeadingKeys[];
}

/** A condition on `dynamodb:LeadingKeys`. */
export interface LeadingKeys {
  readonly patterns: readonly string[];
  readonly wildcards: boolean;
}

/** The condition operators that the local run evaluates, and whether their values contain wildcards. */
const operators: Readonly<Record<string, boolean>> = {
  "ForAllValues:StringLike": true,
  "ForAllValues:StringEquals": false,
};

/**
 * Reads the statements about DynamoDB from an IAM policy.
 *
 * @throws UserError for elements that the local run cannot evaluate, so that they never count as allowed
 */
export function readStatements({ PolicyDocument }: Properties, resolve: Resolve): Statement[] {
  const { Statement: statements } = PolicyDocument as { Statement: Properties | Properties[] };
  return [statements].flat().flatMap((statement) => readStatement(statement, resolve) ?? []);
}

function readStatement(statement: Properties, resolve: Resolve): Statement | undefined {
  for (const element of ["NotAction", "NotResource"]) {
    if (element in statement)
      throw new UserError(`The local run cannot evaluate ${element} in a role's policy.`);
  }
  const actions = toList(resolve(statement.Action)).filter((action) => /^(\*|dynamodb:)/i.test(action));
  if (actions.length === 0) return undefined;
  const conditions = (resolve(statement.Condition) ?? {}) as Readonly<Record<string, Properties>>;
  return {
    effect: statement.Effect === "Deny" ? "Deny" : "Allow",
    actions,
    resources: toList(resolve(statement.Resource)),
    leadingKeys: Object.entries(conditions).map(readCondition),
  };
}

function readCondition([operator, keys]: [string, Properties]): LeadingKeys {
  const wildcards = operators[operator];
  for (const key of Object.keys(keys)) {
    if (wildcards === undefined || key !== "dynamodb:LeadingKeys") {
      throw new UserError(
        `The local run cannot evaluate the condition ${operator} on ${key} in a role's policy: add it to lib/local/template/statements.ts and lib/local/iam/iam-policy.ts.`,
      );
    }
  }
  return { patterns: toList(keys["dynamodb:LeadingKeys"]), wildcards: wildcards === true };
}

const toList = (value: unknown) => (Array.isArray(value) ? value : [value]).map(String);
