import { expect, test } from "vitest";
import { allows, denial, stack } from "../../support/stack/role-check.ts";

const TableName = stack.table.input.TableName;
const key = (pk: string) => ({ pk: { S: pk }, sk: { S: "root" } });

const query = (pk: string, condition = "pk = :pk") => ({
  KeyConditionExpression: condition,
  ExpressionAttributeValues: { ":pk": { S: pk }, ":from": { S: "a" }, ":to": { S: "b" } },
});
const batch = (...pks: string[]) => ({ RequestItems: { [TableName]: { Keys: pks.map(key) } } });
const put = (pk: string) => ({ Put: { TableName, Item: key(pk) } });

test("an index is read with the keys of the index, and not with those of the table", () => {
  const byParent = (pk: string, attribute: string) =>
    allows("list-conversations", "Query", { ...query(pk, `${attribute} = :pk`), IndexName: "by-parent" });
  expect(byParent("CONVERSATION#a#lead_1", "byParent")).toBe(true);
  expect(byParent("LEAD#a", "byParent")).toBe(false);
  expect(byParent("CONVERSATION#a", "pk")).toBe(false);
});

const named = key("EXTERNAL#a");

test.each<[string, string, object, string]>([
  ["the action", "Query", query("LEAD#a"), "dynamodb:Query"],
  ["the index", "GetItem", { Key: key("LEAD#a"), IndexName: "x" }, "dynamodb:GetItem on arn:.*/index/x"],
  ["the key", "DeleteItem", { Key: key("LEAD#a") }, "dynamodb:LeadingKeys LEAD#…"],
  ["the attribute", "PutItem", { Item: { ...named, byParent: {} } }, "dynamodb:Attributes byParent"],
  ["what is returned", "PutItem", { Item: named, ReturnValues: "ALL_OLD" }, "dynamodb:ReturnValues ALL_OLD"],
  [
    "what a failure returns",
    "PutItem",
    { Item: named, ReturnValuesOnConditionCheckFailure: "ALL_OLD" },
    "dynamodb:ReturnValues ALL_OLD",
  ],
])("a refusal names %s that the role lacks", (_, operation, input, missing) => {
  expect(denial("create-lead", operation, input)).toMatch(new RegExp(`\\(the role lacks ${missing}\\)$`));
});

test("a request without a partition key is refused", () => {
  for (const { label } of stack.functions) {
    for (const operation of ["GetItem", "PutItem", "UpdateItem", "DescribeTable", "ExecuteStatement"])
      expect([label, operation, allows(label, operation, {})]).toEqual([label, operation, false]);
    expect(allows(label, "BatchGetItem", { RequestItems: { [TableName]: { Keys: [] } } })).toBe(false);
    expect(allows(label, "TransactWriteItems", { TransactItems: [{ Put: { TableName } }] })).toBe(false);
  }
});

test("every item of a batch and of a transaction is checked", () => {
  const read = (...pks: string[]) => allows("maintain-counts", "BatchGetItem", batch(...pks));
  expect(read("LEAD#a", "CONVERSATION#a")).toBe(true);
  for (const pk of ["KEY#a", "COUNT#a#LEAD"]) expect(read("LEAD#a", pk)).toBe(false);
  const write = (...pks: string[]) =>
    allows("maintain-counts", "TransactWriteItems", { TransactItems: pks.map(put) });
  const get = (...pks: string[]) =>
    allows("list-leads", "TransactGetItems", {
      TransactItems: pks.map((pk) => ({ Get: { TableName, Key: key(pk) } })),
    });
  expect(get("COUNT#a#LEAD", "COUNT#a#LEAD")).toBe(true);
  expect(get("COUNT#a#LEAD", "LEAD#a")).toBe(false);
  expect(write("COUNT#a#LEAD", "COUNT#a#LEAD")).toBe(true);
  expect(write("COUNT#a#LEAD", "LEAD#a")).toBe(false);
});

test("events go to the bus of the stage, failures to their queue, and nothing to others", () => {
  const [publisher] = stack.functions.filter(({ label }) => label === "publish-events");
  const { EVENT_BUS_NAME: own, FAILURES_URL } = publisher?.environment ?? {};
  const publishes = (...buses: unknown[]) => {
    const Entries = buses.map((EventBusName) => ({ EventBusName }));
    return allows("publish-events", "PutEvents", { Entries });
  };
  expect([publishes(own, own), publishes(own, "others")]).toEqual([true, false]);
  const sends = (QueueUrl: unknown) => allows("publish-events", "SendMessage", { QueueUrl });
  expect([sends(FAILURES_URL), sends("others")]).toEqual([true, false]);
});

test("a scan may read keys and nothing else", () => {
  const scan = (input: object) => allows("audit-counts", "Scan", input);
  for (const ProjectionExpression of ["pk", "pk, sk"]) expect(scan({ ProjectionExpression })).toBe(true);
  const email = { ProjectionExpression: "#e", ExpressionAttributeNames: { "#e": "email" } };
  for (const all of [{}, email, { ProjectionExpression: "pk, email" }, { Select: "ALL_ATTRIBUTES" }])
    expect(scan(all)).toBe(false);
});

test.each([
  "SET attribute = :x",
  "SET #x = :x",
  "REMOVE attribute",
  "ADD messageCount :x SET attribute = :x",
])("the attribute that the update %s names is checked", (expression) => {
  for (const [attribute, allowed] of Object.entries({
    activeAt: true,
    awaitingReplySince: true,
    byStatus: true,
    byParent: false,
    expiresAt: false,
  })) {
    const UpdateExpression = expression.replace("attribute", attribute);
    const names = { ExpressionAttributeNames: { "#x": attribute } };
    const input = { Key: key("CONVERSATION#a"), UpdateExpression, ...names };
    expect([attribute, allows("send-message", "UpdateItem", input)]).toEqual([attribute, allowed]);
  }
});
