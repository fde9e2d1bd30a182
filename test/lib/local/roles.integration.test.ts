import { expect, test } from "vitest";
import { allows, denial, stack } from "../../support/role-check.ts";

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
  // The last one reads the table, and no index.
  for (const label of ["create-lead", "send-message", "maintain-counts"])
    expect(allows(label, "Query", { ...query("LEAD#a", "byParent = :pk"), IndexName: "by-parent" })).toBe(
      false,
    );
});

test.each<[string, string, object, string]>([
  ["the action", "DeleteItem", { Key: key("LEAD#a") }, "dynamodb:DeleteItem"],
  ["the index", "GetItem", { Key: key("LEAD#a"), IndexName: "x" }, "dynamodb:GetItem on arn:.*/index/x"],
  ["the key", "PutItem", { Item: key("MESSAGE#a#b") }, "dynamodb:LeadingKeys MESSAGE#…"],
  [
    "the attribute",
    "PutItem",
    { Item: { ...key("EXTERNAL#a"), byParent: {} } },
    "dynamodb:Attributes byParent",
  ],
  [
    "what is returned",
    "PutItem",
    { Item: key("LEAD#a"), ReturnValues: "ALL_OLD" },
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

test("a scan that may read keys reads nothing else", () => {
  const scan = (input: object) => allows("audit-counts", "Scan", input);
  for (const ProjectionExpression of ["pk", "pk, sk"]) expect(scan({ ProjectionExpression })).toBe(true);
  const email = { ProjectionExpression: "#e", ExpressionAttributeNames: { "#e": "email" } };
  for (const all of [{}, email, { ProjectionExpression: "pk, email" }, { Select: "ALL_ATTRIBUTES" }])
    expect(scan(all)).toBe(false);
});

/** A write of each kind, alone and in a transaction, with more attributes in its item or update. */
const puts = (label: string, pk: string, attributes: object = {}, options: object = {}) => {
  const Put = { TableName, Item: { ...key(pk), ...attributes }, ...options };
  return [
    allows(label, "PutItem", Put),
    allows(label, "TransactWriteItems", { TransactItems: [{ Put }] }),
    allows(label, "TransactWriteItems", { TransactItems: [put(pk), { Put }] }),
  ];
};
const updates = (label: string, pk: string, attribute: string) =>
  [
    { UpdateExpression: `SET ${attribute} = :x` },
    { UpdateExpression: "SET #x = :x", ExpressionAttributeNames: { "#x": attribute } },
    { UpdateExpression: `ADD used :x SET ${attribute} = :x` },
    { UpdateExpression: `REMOVE ${attribute}` },
  ].flatMap((change) => {
    const Update = { TableName, Key: key(pk), ...change };
    return [
      allows(label, "UpdateItem", Update),
      allows(label, "TransactWriteItems", { TransactItems: [{ Update }] }),
    ];
  });
const value = (attribute: string) => ({ [attribute]: { S: "KEY#acme" } });
const indexKeys = ["byStatus", "byLabel", "byStatusAndLabel", "byParent"];

/** Some of what functions may put, and the attributes that the table acts on which these items have. */
const items = [
  ["create-lead", "LEAD#a", indexKeys],
  ["create-lead", "IDEMPOTENCY#a#k", ["expiresAt"]],
  ["send-message", "ACTIVE#a#l", []],
  ["maintain-counts", "COUNT#a#LEAD", []],
] as const;

test.each(items)("%s puts %s only with its own index keys and expiry: %j", (label, pk, own) => {
  expect(puts(label, pk, { other: { S: "x" } })).not.toContain(false);
  for (const attribute of [...indexKeys, "expiresAt"]) {
    const allowed = (own as readonly string[]).includes(attribute);
    expect([attribute, ...puts(label, pk, value(attribute))]).toEqual([attribute, allowed, allowed, allowed]);
  }
});

test.each(items)("%s cannot read %s by overwriting it, unless it is an idempotency record", (label, pk) => {
  const allowed = pk.startsWith("IDEMPOTENCY#");
  for (const name of ["ReturnValues", "ReturnValuesOnConditionCheckFailure"])
    expect([name, ...puts(label, pk, {}, { [name]: "ALL_OLD" })]).toEqual([name, allowed, allowed, allowed]);
});

test("send-message updates a conversation, but neither its index keys nor an expiry", () => {
  expect(updates("send-message", "CONVERSATION#a", "lastMessageAt")).not.toContain(false);
  for (const attribute of [...indexKeys, "expiresAt"])
    expect(updates("send-message", "CONVERSATION#a", attribute)).not.toContain(true);
});
