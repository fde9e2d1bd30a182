import { errorMessage } from "../../errors.ts";
import type { LocalFunction } from "../template/functions.ts";
import { localAccountId } from "../template/intrinsics.ts";
import { type Access, evaluate } from "./iam-policy.ts";
import { type PartitionKeyLookup, parseAccesses } from "./request-accesses.ts";
import type { Input } from "./request-context.ts";

/**
 * Checks a request to DynamoDB against the role of its caller.
 *
 * @param operation such as `PutItem`
 * @returns why the role does not allow the request, in AWS's words; undefined when it does
 */
export function checkAccess(
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
  for (const access of accesses) {
    const decision = evaluate(caller.role.statements, access);
    if (decision !== "allowed") return denialMessage(caller, access, decision);
  }
  return undefined;
}

function denialMessage(
  { name, role }: LocalFunction,
  { action, resource }: Access,
  decision: string,
): string {
  const user = `arn:aws:sts::${localAccountId}:assumed-role/${role.name}/${name}`;
  const reason =
    decision === "explicitly denied"
      ? "with an explicit deny in an identity-based policy"
      : `because no identity-based policy allows the ${action} action`;
  return `User: ${user} is not authorized to perform: ${action} on resource: ${resource} ${reason}`;
}
