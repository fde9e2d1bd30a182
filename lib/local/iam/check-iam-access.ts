import { errorMessage } from "../../user-error.ts";
import type { LocalFunction } from "../template/functions.ts";
import { localAccountId } from "../template/intrinsics.ts";
import type { Condition, Operator, Statement } from "../template/statements.ts";
import { type Access, type PartitionKeyLookup, parseAccesses } from "./request-accesses.ts";
import type { Input, RequestContext } from "./request-context.ts";

/**
 * Checks a request to DynamoDB against the role of its caller.
 *
 * @param operation such as `PutItem`
 * @returns why the role does not allow the request, in AWS's words; undefined when it does
 */
export function checkIamAccess(
  caller: LocalFunction,
  operation: string,
  body: Buffer,
  findPartitionKey: PartitionKeyLookup,
): string | undefined {
  let accesses: Access[];
  try {
    accesses = parseAccesses(operation, JSON.parse(body.toString()) as Input, findPartitionKey);
  } catch (error) {
    // A request that cannot be parsed must not be forwarded.
    return errorMessage(error);
  }
  const denied = accesses.find((access) => !isAllowed(caller.role.statements, access));
  return denied && denialMessage(caller, denied);
}

function denialMessage({ name, role }: LocalFunction, { action, resource }: Access): string {
  const user = `arn:aws:sts::${localAccountId}:assumed-role/${role.name}/${name}`;
  return `User: ${user} is not authorized to perform: ${action} on resource: ${resource} because no identity-based policy allows the ${action} action`;
}

/** Evaluates a role's statements, of which none denies anything: an access that no statement allows is denied. */
const isAllowed = (statements: readonly Statement[], access: Access) =>
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
