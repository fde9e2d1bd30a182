import { inject } from "vitest";
import { checkAccess } from "../../../lib/local/iam/iam-proxy.ts";
import { findPartitionKey } from "../../../lib/local/template/table-definition.ts";
import { readStack } from "../../../lib/local/template/template.ts";
import { type IndexName, indexes, itemTypes } from "../../../shared/dynamodb/keys.ts";
import { pick } from "../../support/random.ts";
import type { Attempt } from "../attack.ts";

const stack = await readStack(inject("engine").assembly);
const { TableName } = stack.table.input;
const types = Object.values(itemTypes);

/**
 * What each function may read and write by the table's key, and which types it may query by an index: the rest is an attack.
 * A route may also raise its limit's window, and the authorizer read the limit.
 */
const allowed: Readonly<Record<string, { reads: string; writes: string; queries: string }>> = {
  "list-leads": { reads: "COUNT LEAD", writes: "RATE", queries: "LEAD" },
  "create-lead": { reads: "", writes: "LEAD IDEMPOTENCY RATE", queries: "" },
  "list-conversations": { reads: "COUNT CONVERSATION", writes: "RATE", queries: "CONVERSATION" },
  "send-message": {
    reads: "ACTIVE IDEMPOTENCY",
    writes: "CONVERSATION ACTIVE MESSAGE IDEMPOTENCY RATE",
    queries: "",
  },
  authorize: { reads: "KEY LIMIT", writes: "", queries: "" },
  "maintain-counts": { reads: "COUNT LEAD CONVERSATION", writes: "COUNT", queries: "LEAD CONVERSATION" },
  "audit-counts": { reads: "COUNT LEAD CONVERSATION", writes: "COUNT", queries: "LEAD CONVERSATION COUNT" },
  "compose-events": { reads: "", writes: "", queries: "" },
};

/** The attributes on which the table acts that items of a type have: the keys of indexes, and the expiry. */
const attributes: Readonly<Record<string, string>> = {
  LEAD: "byStatus byOrigin byStatusAndOrigin byParent",
  CONVERSATION: "byStatus byOrigin byStatusAndOrigin byParent",
  IDEMPOTENCY: "expiresAt",
};

interface Probe {
  readonly operation: string;
  readonly input: object;
  readonly isAllowed: boolean;
}

function buildProbe(label: string, random: () => number, account: string): Probe {
  const permitted = allowed[label];
  if (!permitted) throw new Error(`Nothing says what ${label} may do.`);
  const may = (what: keyof typeof permitted, some: readonly string[]) =>
    some.every((type) => permitted[what].split(" ").includes(type));
  const key = (type: string) => ({ pk: { S: `${type}#${account}` }, sk: { S: "root" } });
  const some = Array.from({ length: 1 + Math.floor(random() * 2) }, () => pick(random, types));
  const [type = ""] = some;
  const Key = key(type);
  const index = pick(random, ["", ...(Object.keys(indexes) as IndexName[])]);
  const update = { Key, UpdateExpression: "SET x = :x", ExpressionAttributeValues: { ":x": { S: "x" } } };
  const query = {
    ...(index && { IndexName: index }),
    KeyConditionExpression: `${index ? indexes[index] : "pk"} = :pk`,
    ExpressionAttributeValues: { ":pk": Key.pk },
  };
  const projection = pick(random, ["pk", "sk", "pk, sk", "pk, byOrigin", "sk, byOrigin", "name"]);
  const transaction = some.map((one) => ({ Put: { TableName, Item: key(one) } }));
  const attribute = pick(random, [...Object.values(indexes), "expiresAt"]);
  const listed = { ...Key, [attribute]: { S: "x" } };
  const reads = may("reads", [type]);
  const writes = may("writes", [type]);
  return pick(random, [
    { operation: "GetItem", input: { Key }, isAllowed: reads },
    {
      operation: "BatchGetItem",
      input: { RequestItems: { [TableName]: { Keys: some.map(key) } } },
      isAllowed: label.endsWith("-counts") && may("reads", some) && !some.includes("COUNT"),
    },
    { operation: "PutItem", input: { Item: Key }, isAllowed: writes },
    { operation: "UpdateItem", input: update, isAllowed: writes },
    {
      operation: "PutItem",
      input: { Item: listed },
      isAllowed: writes && (attributes[type] ?? "").split(" ").includes(attribute),
    },
    {
      operation: "UpdateItem",
      input: { ...update, UpdateExpression: `SET ${attribute} = :x` },
      isAllowed: writes && type === "RATE" && attribute === "expiresAt",
    },
    {
      operation: "PutItem",
      input: { Item: Key, ReturnValues: "ALL_OLD" },
      isAllowed: writes && type === "IDEMPOTENCY",
    },
    { operation: "DeleteItem", input: { Key }, isAllowed: false },
    { operation: "Query", input: query, isAllowed: may("queries", [type]) },
    {
      operation: "Query",
      input: { ...query, ProjectionExpression: projection },
      isAllowed: may("queries", [type]),
    },
    { operation: "Scan", input: {}, isAllowed: false },
    {
      operation: "TransactWriteItems",
      input: { TransactItems: transaction },
      isAllowed: may("writes", some),
    },
    {
      operation: "TransactGetItems",
      input: { TransactItems: some.map((one) => ({ Get: { TableName, Key: key(one) } })) },
      isAllowed: may("reads", some),
    },
    {
      operation: "BatchWriteItem",
      input: { RequestItems: { [TableName]: some.map((one) => ({ PutRequest: { Item: key(one) } })) } },
      isAllowed: false,
    },
    ...["ExecuteStatement", "DeleteTable", "UpdateTimeToLive", "ExportTableToPointInTime", "GetRecords"].map(
      (operation) => ({ operation, input: { Statement: `SELECT * FROM "${TableName}"` }, isAllowed: false }),
    ),
  ]);
}

/** Has a function's role do what its function does not need. */
export const roles: Attempt = async ({ random, victim, note }) => {
  const caller = pick(random, stack.functions);
  const { operation, input, isAllowed } = buildProbe(caller.label, random, victim.name);
  const body = Buffer.from(JSON.stringify({ TableName, ...input }));
  const denial = checkAccess(caller, operation, body, (index) => findPartitionKey(stack.table, index));
  note(denial === undefined ? "allowed" : "denied");
  return denial === undefined && !isAllowed ? `${caller.label}: ${operation} ${body}` : undefined;
};
