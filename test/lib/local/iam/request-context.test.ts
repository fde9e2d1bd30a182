import { expect, test } from "vitest";
import { readContext } from "../../../../lib/local/iam/request-context.ts";

const Key = { pk: { S: "A" }, sk: { S: "x" } };
const names = { "#status": "status", "#0": "byParent" };
const read = (operation: string, input: object) =>
  readContext(operation, { ExpressionAttributeNames: names, ...input }, ["A"]);

test.each<[string, object, string[]]>([
  ["the key", { Key }, ["pk", "sk"]],
  ["the keys of a batch", { Keys: [Key, { ...Key, more: { S: "x" } }] }, ["pk", "sk", "more"]],
  [
    "an item",
    { Item: { ...Key, expiresAt: { N: "1" }, map: { M: { inner: { S: "x" } } } } },
    ["pk", "sk", "expiresAt", "map"],
  ],
  [
    "an update",
    { UpdateExpression: "SET a = :x, #0=:y ADD used :count REMOVE expiresAt" },
    ["a", "byParent", "used", "expiresAt"],
  ],
  [
    "functions in an update",
    { UpdateExpression: "set a = if_not_exists(b, :expiresAt), c = list_append (d, e)" },
    ["a", "b", "c", "d", "e"],
  ],
  [
    "a condition",
    { ConditionExpression: "attribute_not_exists(pk) OR NOT (#status<>:active) AND size(tags)>:n" },
    ["pk", "status", "tags"],
  ],
  [
    "a comparison with a list",
    { ConditionExpression: "a IN (:a, :b) AND c BETWEEN :a AND d" },
    ["a", "c", "d"],
  ],
  ["a path", { ProjectionExpression: "a.b, c[0].d, #status.#0" }, ["a", "c", "status"]],
  ["a query", { KeyConditionExpression: "byParent = :p", FilterExpression: "e = :f" }, ["byParent", "e"]],
  [
    "the parameters before there were expressions",
    {
      AttributesToGet: ["a"],
      Expected: { b: {} },
      AttributeUpdates: { c: {} },
      KeyConditions: { d: {} },
      QueryFilter: { e: {} },
      ScanFilter: { f: {} },
    },
    ["a", "b", "c", "d", "e", "f"],
  ],
  ["an attribute that is named twice", { Key, ConditionExpression: "attribute_exists(pk)" }, ["pk", "sk"]],
])("the attributes of %s", (_, input, attributes) => {
  const found = read("UpdateItem", input)["dynamodb:Attributes"] ?? [];
  expect([...found].sort()).toEqual([...attributes].sort());
});

test.each<[object, string[]]>([
  [{}, ["NONE"]],
  [{ ReturnValues: "UPDATED_NEW" }, ["UPDATED_NEW"]],
  [{ ReturnValuesOnConditionCheckFailure: "ALL_OLD" }, ["NONE", "ALL_OLD"]],
])("what a write with %j returns", (input, values) => {
  const context = read("PutItem", input);
  expect(context["dynamodb:ReturnValues"]).toEqual(values);
  expect(context).not.toHaveProperty("dynamodb:Select");
});

test.each<[object, string]>([
  [{}, "ALL_ATTRIBUTES"],
  [{ ProjectionExpression: "pk" }, "SPECIFIC_ATTRIBUTES"],
  [{ AttributesToGet: ["pk"] }, "SPECIFIC_ATTRIBUTES"],
  [{ Select: "COUNT" }, "COUNT"],
])("what a read with %j selects", (input, select) => {
  for (const operation of ["GetItem", "BatchGetItem", "Query", "Scan"]) {
    const context = read(operation, input);
    expect(context["dynamodb:Select"]).toEqual([select]);
    expect(context).not.toHaveProperty("dynamodb:ReturnValues");
  }
});
