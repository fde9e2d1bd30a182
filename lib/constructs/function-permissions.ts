import type { Table } from "aws-cdk-lib/aws-dynamodb";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { expiryAttribute, type IndexName, indexKeys, type itemTypes } from "../../shared/dynamodb/keys.ts";
import type { FunctionName } from "../bundling/bundle.ts";

type TypePrefix = (typeof itemTypes)[keyof typeof itemTypes];
type ReadAction = "GetItem" | "BatchGetItem" | "Query" | "Scan";
type WriteAction = "PutItem" | "UpdateItem" | "DeleteItem" | "ConditionCheckItem";

/** The attributes that the table acts on: the keys of its indexes, and the expiry. */
const tableAttributes = [...indexKeys, expiryAttribute] as const;

/** What a function may do with the items of some types or, without `types`, with all items. */
interface Grant {
  readonly actions: readonly (ReadAction | WriteAction)[];
  readonly types?: readonly TypePrefix[];
  readonly indexes?: readonly IndexName[];
  /** The only attributes that a read may show, or that a write may name, besides the keys. */
  readonly only?: readonly string[];
  /** The table attributes that a write may name if `only` is not set, by default none. */
  readonly sets?: readonly (typeof tableAttributes)[number][];
  readonly returnsStored?: true;
}

const putIdempotencyRecord: Grant = {
  actions: ["PutItem"],
  types: ["IDEMPOTENCY"],
  sets: ["expiresAt"],
  returnsStored: true,
};

const writeLeads: Grant = {
  actions: ["PutItem", "UpdateItem"],
  types: ["LEAD"],
  sets: ["byStatus", "byLabel", "byStatusAndLabel", "byParent", "activeAt"],
};

const writeMessages: readonly Grant[] = [
  // A message removes the mark `undoing`, so that undoing an import does not erase a lead with messages.
  { actions: ["UpdateItem"], types: ["LEAD"], only: ["undoing"] },
  {
    actions: ["PutItem"],
    types: ["CONVERSATION"],
    sets: ["byStatus", "byLabel", "byStatusAndLabel", "byParent", "activeAt", "awaitingReplySince"],
  },
  { actions: ["PutItem"], types: ["ACTIVE", "MESSAGE"] },
  { actions: ["UpdateItem"], types: ["MESSAGE"] },
  putIdempotencyRecord,
  {
    actions: ["UpdateItem", "ConditionCheckItem"],
    types: ["CONVERSATION"],
    sets: ["byStatus", "byStatusAndLabel", "activeAt", "awaitingReplySince"],
    returnsStored: true,
  },
];

const writeCounts: readonly Grant[] = [
  { actions: ["GetItem"], types: ["COUNT"] },
  // The root of an erased account's list keeps its expiry until the list has rows again.
  { actions: ["PutItem"], types: ["COUNT"], sets: ["expiresAt"] },
];

/** Left out in a stage without a rate limit. */
const countRequests: Grant = {
  actions: ["UpdateItem"],
  types: ["RATE"],
  sets: ["expiresAt"],
  returnsStored: true,
};

/** Everything that each function may do with the table. A transaction needs the actions of its items. */
const grants: Readonly<Record<FunctionName, readonly Grant[]>> = {
  "list-leads": [
    {
      actions: ["Query"],
      types: ["LEAD"],
      indexes: ["by-status", "by-label", "by-status-and-label", "by-parent", "by-activity"],
    },
    { actions: ["BatchGetItem"], types: ["LEAD", "EXTERNAL", "ADDRESS"] },
    { actions: ["GetItem"], types: ["COUNT"] },
    countRequests,
  ],
  "create-lead": [
    { actions: ["GetItem"], types: ["LEAD", "EXTERNAL", "ADDRESS", "IDEMPOTENCY"] },
    writeLeads,
    { actions: ["PutItem"], types: ["EXTERNAL", "ADDRESS"] },
    { actions: ["DeleteItem"], types: ["ADDRESS"] },
    putIdempotencyRecord,
    countRequests,
  ],
  "list-conversations": [
    {
      actions: ["Query"],
      types: ["CONVERSATION"],
      indexes: ["by-status", "by-label", "by-status-and-label", "by-parent", "by-activity", "by-waiting"],
    },
    { actions: ["BatchGetItem"], types: ["CONVERSATION"] },
    { actions: ["Query"], types: ["MESSAGE"] },
    { actions: ["GetItem"], types: ["COUNT"] },
    countRequests,
  ],
  "send-message": [
    { actions: ["GetItem"], types: ["LEAD"], only: ["addresses", "undoing"] },
    { actions: ["GetItem"], types: ["ACTIVE", "CONVERSATION", "MESSAGE", "IDEMPOTENCY"] },
    { actions: ["Query"], types: ["MESSAGE"] },
    ...writeMessages,
    countRequests,
  ],
  // No function may change an account: only operators set its limit and freeze it.
  authorize: [{ actions: ["GetItem"], types: ["KEY", "ACCOUNT"] }],
  "maintain-counts": [
    { actions: ["Query", "BatchGetItem"], types: ["LEAD", "CONVERSATION"] },
    ...writeCounts,
  ],
  "audit-counts": [
    { actions: ["Scan"], only: [] },
    { actions: ["BatchGetItem"], types: ["LEAD", "CONVERSATION"] },
    { actions: ["Query"], types: ["LEAD", "CONVERSATION", "COUNT"] },
    ...writeCounts,
    { actions: ["GetItem"], types: ["AUDIT"] },
    { actions: ["PutItem"], types: ["AUDIT"] },
  ],
  // It does not read the table, because the stream passes whole items.
  "publish-events": [],
  "deliver-message": [
    { actions: ["GetItem"], types: ["CHANNEL", "MESSAGE", "CONVERSATION", "ACCOUNT"] },
    { actions: ["Query"], types: ["MESSAGE"] },
    { actions: ["UpdateItem"], types: ["MESSAGE"] },
    {
      // After a failed reply, `awaitingReplySince` makes the lead wait again. The rest is read or marks the change.
      actions: ["UpdateItem"],
      types: ["CONVERSATION"],
      only: [
        ...["awaitingReplySince", "failureId", "changeId", "changed"],
        ...["status", "activeAt", "messageCount"],
      ],
    },
  ],
  "receive-webhook": [
    {
      actions: ["GetItem"],
      types: ["SENDER", "ACCOUNT", "LEAD", "ADDRESS", "ACTIVE", "CONVERSATION", "MESSAGE", "IDEMPOTENCY"],
    },
    { actions: ["Query"], types: ["MESSAGE"] },
    writeLeads,
    { actions: ["PutItem", "DeleteItem"], types: ["ADDRESS"] },
    ...writeMessages,
  ],
  // It uses the API like any caller.
  canary: [],
};

/** The policy statements of a function's grants. A function that does not use the table has none. */
export const tableStatements = (name: FunctionName, table: Table, hasRateLimit: boolean) =>
  grants[name]
    .filter((grant) => hasRateLimit || grant !== countRequests)
    .map((grant) => grantStatement(table, grant));

/** The policy statement of a grant. The `grant…` methods of a CDK table would allow every index. */
const grantStatement = (table: Table, grant: Grant) =>
  new PolicyStatement({
    actions: grant.actions.map((action) => `dynamodb:${action}`),
    resources: [table.tableArn, ...(grant.indexes ?? []).map((name) => `${table.tableArn}/index/${name}`)],
    conditions: grantConditions(grant),
  });

/**
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html
 */
function grantConditions({ actions, types, only, sets = [], returnsStored }: Grant) {
  const isRead = actions.every((action) => /Query|Scan|GetItem/.test(action));
  const forbidden = tableAttributes.filter((attribute) => !sets.includes(attribute));
  return {
    ...(types && {
      "ForAllValues:StringLike": { "dynamodb:LeadingKeys": types.map((type) => `${type}#*`) },
      // `ForAllValues` also matches a request without keys.
      Null: { "dynamodb:LeadingKeys": "false" },
    }),
    ...(only
      ? { "ForAllValues:StringEquals": { "dynamodb:Attributes": ["pk", "sk", ...only] } }
      : !isRead && { "ForAllValues:StringNotEquals": { "dynamodb:Attributes": forbidden } }),
    ...(isRead
      ? only && { StringEqualsIfExists: { "dynamodb:Select": "SPECIFIC_ATTRIBUTES" } }
      : !returnsStored && { StringEqualsIfExists: { "dynamodb:ReturnValues": "NONE" } }),
  };
}
