import type { Condition, ConditionKey, Operator, Statement } from "../template/statements.ts";

/** One access of a request to DynamoDB, as IAM evaluates it. */
export interface Access {
  /** Such as `dynamodb:PutItem`. */
  readonly action: string;
  /** The ARN of the table or of its index. */
  readonly resource: string;
  readonly context: RequestContext;
}

/** The values of the condition keys; a key that the request does not have is missing or has no values. */
export type RequestContext = Readonly<Partial<Record<ConditionKey, readonly string[]>>>;

/** Evaluates a role's statements, of which none denies anything: an access that no statement allows is denied. */
export const isAllowed = (statements: readonly Statement[], access: Access) =>
  statements.some((statement) => applies(statement, access));

function applies(
  { actions, resources, conditions }: Statement,
  { action, resource, context }: Access,
): boolean {
  return (
    actions.some((pattern) => isLike(pattern.toLowerCase(), action.toLowerCase())) &&
    resources.some((pattern) => isLike(pattern, resource)) &&
    conditions.every((condition) => holds(condition, context))
  );
}

const holds = ({ operator, key, values }: Condition, context: RequestContext) =>
  operators[operator](context[key] ?? [], values);

/**
 * Each operator as a function of the request's values and of the policy's. Like `ForAllValues`, `IfExists` holds for a
 * key that the request does not have.
 *
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html
 */
const operators: Readonly<
  Record<Operator, (present: readonly string[], values: readonly string[]) => boolean>
> = {
  "ForAllValues:StringLike": (present, values) =>
    present.every((value) => values.some((pattern) => isLike(pattern, value))),
  "ForAllValues:StringEquals": (present, values) => present.every((value) => values.includes(value)),
  "ForAllValues:StringNotEquals": (present, values) => !present.some((value) => values.includes(value)),
  StringEqualsIfExists: (present, values) => present.every((value) => values.includes(value)),
  Null: (present, values) => values.includes(String(present.length === 0)),
};

/** IAM's string matching: `*` matches any run of characters, `?` any single one. */
function isLike(pattern: string, text: string): boolean {
  const source = pattern
    .replace(/[\\^$.+()[\]{}|]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${source}$`, "s").test(text);
}
