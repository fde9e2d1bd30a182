import type { LeadingKeys, Statement } from "../template/statements.ts";

/** One access of a request to DynamoDB, as IAM evaluates it. */
export interface Access {
  /** Such as `dynamodb:PutItem`. */
  readonly action: string;
  /** The ARN of the table or of its index. */
  readonly resource: string;
  /** The partition keys that the request names; empty for requests without any, such as a scan. */
  readonly leadingKeys: readonly string[];
}

export type Decision = "allowed" | "not allowed" | "explicitly denied";

/** Evaluates a role's statements: an explicit deny wins, and an access that no statement allows is denied. */
export function evaluate(statements: readonly Statement[], access: Access): Decision {
  const matching = statements.filter((statement) => applies(statement, access));
  if (matching.some(({ effect }) => effect === "Deny")) return "explicitly denied";
  return matching.length > 0 ? "allowed" : "not allowed";
}

function applies({ actions, resources, leadingKeys }: Statement, access: Access): boolean {
  return (
    actions.some((pattern) => isLike(pattern.toLowerCase(), access.action.toLowerCase())) &&
    resources.some((pattern) => isLike(pattern, access.resource)) &&
    leadingKeys.every((condition) => access.leadingKeys.every((key) => matches(condition, key)))
  );
}

const matches = ({ patterns, wildcards }: LeadingKeys, key: string) =>
  wildcards ? patterns.some((pattern) => isLike(pattern, key)) : patterns.includes(key);

/** IAM's string matching: `*` matches any run of characters, `?` any single one. */
function isLike(pattern: string, text: string): boolean {
  const source = pattern
    .replace(/[\\^$.+()[\]{}|]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${source}$`, "s").test(text);
}
