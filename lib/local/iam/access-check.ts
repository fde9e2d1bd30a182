import { errorMessage } from "../../errors.ts";
import type { LocalFunction } from "../template/functions.ts";
import { localAccountId } from "../template/intrinsics.ts";
import { type PartitionKeyLookup, parseAccesses } from "./dynamodb-access.ts";
import { type Access, evaluate } from "./iam-policy.ts";

/**
 * Why a function's role does not allow a request to DynamoDB, in AWS's words.
 *
 * @param operation as `PutItem`
 * @returns undefined when the role allows it
 */
export function checkAccess(
  caller: LocalFunction,
  operation: string,
  body: Buffer,
  partitionKeyAttribute: PartitionKeyLookup,
) {
  let accesses: Access[];
  try {
    accesses = parseAccesses(operation, JSON.parse(body.toString()), partitionKeyAttribute);
  } catch (error) {
    // What cannot be understood must not pass.
    return errorMessage(error);
  }
  for (const access of accesses) {
    const decision = evaluate(caller.role.statements, access);
    if (decision !== "allowed") return refusalMessage(caller, access, decision);
  }
  return undefined;
}

function refusalMessage(
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
