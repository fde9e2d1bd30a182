import { errorMessage } from "../../user-error.ts";
import type { LocalFunction } from "../template/functions.ts";
import { localAccountId } from "../template/intrinsics.ts";
import { type Condition, isLike, type Statement } from "../template/statements.ts";
import type { TableDefinition } from "../template/table-definition.ts";
import { type AwsRequestAccess, parseAccesses } from "./request-accesses.ts";

/**
 * Checks a request against the role of its caller.
 *
 * @param operation such as `PutItem`
 * @returns why the role does not allow the request, in AWS's words, and what the role lacks; undefined if it is allowed
 */
export function checkIamAccess(
  { name, role }: LocalFunction,
  operation: string,
  body: Buffer,
  findPartitionKey: TableDefinition["findPartitionKey"],
): string | undefined {
  try {
    for (const access of parseAccesses(operation, JSON.parse(body.toString()), findPartitionKey)) {
      const missing = findMissing(role.statements, access);
      if (missing === undefined) continue;
      const { action, resource } = access;
      const user = `arn:aws:sts::${localAccountId}:assumed-role/${role.name}/${name}`;
      return `User: ${user} is not authorized to perform: ${action} on resource: ${resource} because no identity-based policy allows the ${action} action (the role lacks ${missing})`;
    }
    return undefined;
  } catch (error) {
    // A request that cannot be parsed must not be forwarded.
    return errorMessage(error);
  }
}

/** Finds what the closest statement lacks to allow an access; undefined if one allows it. No statement denies anything. */
function findMissing(statements: readonly Statement[], { action, resource, context }: AwsRequestAccess) {
  const ofAction = statements.filter(({ actions }) =>
    actions.some((pattern) => isLike(pattern.toLowerCase(), action.toLowerCase())),
  );
  if (ofAction.length === 0) return action;
  const ofResource = ofAction.filter(({ resources }) =>
    resources.some((pattern) => isLike(pattern, resource)),
  );
  if (ofResource.length === 0) return `${action} on ${resource}`;
  const [closest] = ofResource
    .map(({ conditions }) => conditions.flatMap((condition) => findRefused(condition, context)))
    // Statements for other items come last, because what they allow does not help with this item.
    .sort((a, b) => Number(a.some(isOfKey)) - Number(b.some(isOfKey)) || a.length - b.length);
  return closest && closest.length > 0 ? [...new Set(closest)].join(", ") : undefined;
}

const isOfKey = (refused: string) => refused.startsWith("dynamodb:LeadingKeys");

/** The values of a request that a condition refuses. Only the first part of a key is shown: the rest can be a caller's. */
const findRefused = ({ key, refuse }: Condition, context: AwsRequestAccess["context"]) =>
  refuse(context[key] ?? []).map((value) => `${key} ${value.replace(/#.*/s, "#…")}`);
