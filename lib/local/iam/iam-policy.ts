import { UserError } from "../../errors.ts";

/** A statement of an IAM policy about DynamoDB, with every intrinsic resolved. */
export interface Statement {
  readonly effect: "Allow" | "Deny";
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  /** What every partition key of the request must match, if that is a condition. */
  readonly leadingKeys: readonly LeadingKeys[];
}

interface LeadingKeys {
  readonly patterns: readonly string[];
  readonly wildcards: boolean;
}

/** One thing that a request to DynamoDB does, as IAM sees it. */
export interface Access {
  /** The action, as `dynamodb:PutItem`. */
  readonly action: string;
  /** The ARN of the table or of its index. */
  readonly resource: string;
  /** The partition keys that the request names; empty for those that name none, as a scan. */
  readonly leadingKeys: readonly string[];
}

export type Decision = "allowed" | "not allowed" | "explicitly denied";

const list = (value: unknown) => (Array.isArray(value) ? value : [value]).map(String);

const isAboutDynamoDb = (action: string) => /^(\*|dynamodb:)/i.test(action);

/** The operators under which a condition on `dynamodb:LeadingKeys` is understood, and whether each has wildcards. */
const operators: Readonly<Record<string, boolean>> = {
  "ForAllValues:StringLike": true,
  "ForAllValues:StringEquals": false,
};

/**
 * Reads a statement of a policy document.
 *
 * @returns nothing for a statement that is not about DynamoDB
 * @throws UserError on what cannot be evaluated here: it must never count as allowed
 */
export function readStatement(
  document: Record<string, unknown>,
  resolve: (value: unknown) => unknown,
): Statement | undefined {
  for (const element of ["NotAction", "NotResource"]) {
    if (element in document)
      throw new UserError(`The local run cannot evaluate ${element} in a role's policy.`);
  }
  const actions = list(resolve(document.Action)).filter(isAboutDynamoDb);
  if (actions.length === 0) return undefined;
  return {
    effect: document.Effect === "Deny" ? "Deny" : "Allow",
    actions,
    resources: list(resolve(document.Resource)),
    leadingKeys: Object.entries((resolve(document.Condition) ?? {}) as object).map(readCondition),
  };
}

function readCondition([operator, keys]: [string, Record<string, unknown>]): LeadingKeys {
  const wildcards = operators[operator];
  for (const key of Object.keys(keys)) {
    if (wildcards === undefined || key !== "dynamodb:LeadingKeys") {
      throw new UserError(
        `The local run cannot evaluate the condition ${operator} on ${key} in a role's policy: teach lib/local/iam/iam-policy.ts.`,
      );
    }
  }
  return { patterns: list(keys["dynamodb:LeadingKeys"]), wildcards: wildcards === true };
}

/** Whether a role with these statements may do it: an explicit denial wins, and what nothing allows is denied. */
export function evaluate(statements: readonly Statement[], access: Access): Decision {
  const matching = statements.filter((statement) => applies(statement, access));
  if (matching.some(({ effect }) => effect === "Deny")) return "explicitly denied";
  return matching.length > 0 ? "allowed" : "not allowed";
}

function applies({ actions, resources, leadingKeys }: Statement, access: Access): boolean {
  return (
    actions.some((pattern) => like(pattern.toLowerCase(), access.action.toLowerCase())) &&
    resources.some((pattern) => like(pattern, access.resource)) &&
    leadingKeys.every((condition) => access.leadingKeys.every((key) => matches(condition, key)))
  );
}

const matches = ({ patterns, wildcards }: LeadingKeys, key: string) =>
  wildcards ? patterns.some((pattern) => like(pattern, key)) : patterns.includes(key);

/** IAM's string matching: `*` for any run of characters, `?` for any one. */
function like(pattern: string, text: string): boolean {
  const source = pattern
    .replace(/[\\^$.+()[\]{}|]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${source}$`, "s").test(text);
}
