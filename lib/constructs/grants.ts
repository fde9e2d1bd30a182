import type { Table } from "aws-cdk-lib/aws-dynamodb";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { IndexName, itemTypes } from "../../shared/dynamodb/keys.ts";
import type { FunctionName } from "../bundling/bundle.ts";

type ItemType = (typeof itemTypes)[keyof typeof itemTypes];

/** Access to items of some types, by the table's key and by the keys of the named indexes. */
export interface Grant {
  readonly actions: readonly `dynamodb:${"GetItem" | "BatchGetItem" | "PutItem" | "UpdateItem" | "ConditionCheckItem" | "Query"}`[];
  readonly types: readonly ItemType[];
  readonly indexes?: readonly IndexName[];
}

/** Everything that each function may do with the table, besides `rateLimitGrant`. A transaction needs the actions of its items. */
export const grants: Readonly<Record<FunctionName, readonly Grant[]>> = {
  "list-leads": [
    {
      actions: ["dynamodb:Query"],
      types: ["LEAD"],
      indexes: ["by-status", "by-origin", "by-status-and-origin"],
    },
    { actions: ["dynamodb:GetItem"], types: ["COUNT"] },
  ],
  "create-lead": [{ actions: ["dynamodb:PutItem"], types: ["LEAD", "IDEMPOTENCY"] }],
  "list-conversations": [
    {
      actions: ["dynamodb:Query"],
      types: ["CONVERSATION"],
      indexes: ["by-status", "by-origin", "by-status-and-origin", "by-parent"],
    },
    { actions: ["dynamodb:BatchGetItem"], types: ["CONVERSATION"] },
    { actions: ["dynamodb:GetItem"], types: ["COUNT"] },
  ],
  "send-message": [
    { actions: ["dynamodb:GetItem"], types: ["LEAD", "ACTIVE", "IDEMPOTENCY"] },
    { actions: ["dynamodb:PutItem"], types: ["CONVERSATION", "ACTIVE", "MESSAGE", "IDEMPOTENCY"] },
    { actions: ["dynamodb:UpdateItem", "dynamodb:ConditionCheckItem"], types: ["CONVERSATION"] },
  ],
  authorize: [{ actions: ["dynamodb:GetItem"], types: ["KEY"] }],
  "maintain-counts": [
    {
      actions: ["dynamodb:Query"],
      types: ["LEAD", "CONVERSATION"],
      indexes: ["by-origin", "by-parent"],
    },
    { actions: ["dynamodb:BatchGetItem"], types: ["LEAD", "CONVERSATION"] },
    { actions: ["dynamodb:GetItem", "dynamodb:PutItem"], types: ["COUNT"] },
  ],
  // The pipe passes it whole items.
  "compose-events": [],
};

/** What the functions of the routes may also do if accounts have a rate limit. */
export const rateLimitGrant: Grant = { actions: ["dynamodb:UpdateItem"], types: ["RATE"] };

/** The policy statement of a grant. The `grant…` methods of a CDK table would allow every index. */
export function grantStatement(table: Table, { actions, types, indexes = [] }: Grant): PolicyStatement {
  return new PolicyStatement({
    actions: [...actions],
    resources: [table.tableArn, ...indexes.map((name) => `${table.tableArn}/index/${name}`)],
    // `ForAllValues` also matches a request without keys, but each of these actions sends a partition key.
    conditions: {
      "ForAllValues:StringLike": { "dynamodb:LeadingKeys": types.map((type) => `${type}#*`) },
    },
  });
}
