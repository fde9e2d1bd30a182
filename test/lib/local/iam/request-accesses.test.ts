import { expect, test } from "vitest";
import { parseAccesses } from "../../../../lib/local/iam/request-accesses.ts";

const table = "arn:aws:dynamodb:local:000000000000:table/probes";
const TableName = "probes";
const pk = (S: string) => ({ pk: { S }, sk: { S: "x" } });
const parse = (operation: string, input: object) =>
  parseAccesses(operation, input as Record<string, unknown>, (index) =>
    index === undefined ? "pk" : "byStatus",
  );

/** An access with these partition keys, whatever else is in its context. */
const expectedAccess = (action: string, resource: string, leadingKeys: string[]) => ({
  action,
  resource,
  context: expect.objectContaining({ "dynamodb:LeadingKeys": leadingKeys }),
});

test.each([
  ["GetItem", { TableName, Key: pk("A") }, ["A"]],
  ["PutItem", { TableName, Item: { ...pk("A"), byStatus: { S: "B" } } }, ["A"]],
  ["UpdateItem", { TableName: table, Key: pk("A") }, ["A"]],
  ["DeleteItem", { TableName, Key: pk("A") }, ["A"]],
  ["Scan", { TableName }, []],
  ["DescribeTable", { TableName }, []],
  ["BatchGetItem", { RequestItems: { probes: { Keys: [pk("A"), pk("B")] } } }, ["A", "B"]],
  [
    "BatchWriteItem",
    { RequestItems: { probes: [{ PutRequest: { Item: pk("A") } }, { DeleteRequest: { Key: pk("B") } }] } },
    ["A", "B"],
  ],
])("%s is one access", (operation, input, leadingKeys) => {
  expect(parse(operation, input)).toEqual([expectedAccess(`dynamodb:${operation}`, table, leadingKeys)]);
});

test.each([
  ["pk = :a", {}],
  ["pk=:a AND sk < :b", {}],
  ["sk BETWEEN :b AND :b AND (#p = :a)", { "#p": "pk" }],
  ["pk = :a AND sk BETWEEN :b AND :b", {}],
  ["pk = :a AND sk >= :b", {}],
  ["begins_with(sk, :b) AND pk = :a", {}],
])("the key of a query by %s is found", (KeyConditionExpression, ExpressionAttributeNames) => {
  const ExpressionAttributeValues = { ":a": { S: "A" }, ":b": { S: "B" } };
  const query = { TableName, KeyConditionExpression, ExpressionAttributeNames, ExpressionAttributeValues };
  expect(parse("Query", query)).toEqual([expectedAccess("dynamodb:Query", table, ["A"])]);
});

test("a query of an index needs access to the index by the index's key", () => {
  const query = {
    TableName,
    IndexName: "by-status",
    KeyConditionExpression: "byStatus = :a",
    ExpressionAttributeValues: { ":a": { S: "A" } },
  };
  expect(parse("Query", query)).toEqual([
    expectedAccess("dynamodb:Query", `${table}/index/by-status`, ["A"]),
  ]);
});

test("a query that does not name its partition key is rejected", () => {
  expect(() => parse("Query", { TableName, KeyConditionExpression: "sk = :a" })).toThrow(
    "does not name its partition key",
  );
  expect(() => parse("Query", { TableName, KeyConditions: {} })).toThrow("does not name its partition key");
});

test("a transaction needs one access for each item", () => {
  const writes = [
    { Put: { TableName, Item: pk("A") } },
    { Update: { TableName, Key: pk("B") } },
    { Delete: { TableName, Key: pk("C") } },
    { ConditionCheck: { TableName, Key: pk("D") } },
  ];
  expect(
    parse("TransactWriteItems", { TransactItems: writes }).map(({ action, context }) => [
      action,
      ...(context["dynamodb:LeadingKeys"] ?? []),
    ]),
  ).toEqual([
    ["dynamodb:PutItem", "A"],
    ["dynamodb:UpdateItem", "B"],
    ["dynamodb:DeleteItem", "C"],
    ["dynamodb:ConditionCheckItem", "D"],
  ]);
  expect(parse("TransactGetItems", { TransactItems: [{ Get: { TableName, Key: pk("A") } }] })).toEqual([
    expectedAccess("dynamodb:GetItem", table, ["A"]),
  ]);
});
