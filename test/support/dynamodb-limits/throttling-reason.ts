import type { Use } from "./partition-limits.ts";

/** Why a call was throttled, as DynamoDB's errors name it. */
export interface ThrottlingReason {
  readonly reason: `${"Table" | "Index"}${"Read" | "Write"}KeyRangeThroughputExceeded`;
  /** The ARN of the table or of the index. */
  readonly resource: string;
}

/** The reason for a partition key over its limit. @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ThrottlingReason.html */
export function throttlingReason({ kind, index }: Use, tableName: string): ThrottlingReason {
  const table = `arn:aws:dynamodb:local:000000000000:table/${tableName}`;
  return {
    reason: `${index === undefined ? "Table" : "Index"}${kind === "read" ? "Read" : "Write"}KeyRangeThroughputExceeded`,
    resource: index === undefined ? table : `${table}/index/${index}`,
  };
}
