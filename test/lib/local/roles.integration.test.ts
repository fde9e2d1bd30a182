import { expect, inject, test } from "vitest";
import { checkAccess } from "../../../lib/local/iam/access-check.ts";
import { findPartitionKey } from "../../../lib/local/template/table-definition.ts";
import { readStack } from "../../../lib/local/template/template.ts";

const stack = await readStack(inject("engine").assembly);
const TableName = stack.table.input.TableName;
const key = (pk: string) => ({ pk: { S: pk }, sk: { S: "root" } });

/** Whether the proxy would forward a request under the role of a deployed function. */
function allows(label: string, operation: string, input: object): boolean {
  const caller = stack.functions.find((fn) => fn.label === label);
  if (!caller) throw new Error(`There is no function ${label}.`);
  const body = Buffer.from(JSON.stringify({ TableName, ...input }));
  return checkAccess(caller, operation, body, (index) => findPartitionKey(stack.table, index)) === undefined;
}

const query = (pk: string, condition = "pk = :pk") => ({
  KeyConditionExpression: condition,
  ExpressionAttributeValues: { ":pk": { S: pk }, ":from": { S: "a" }, ":to": { S: "b" } },
});
const batch = (...pks: string[]) => ({ RequestItems: { [TableName]: { Keys: pks.map(key) } } });
const put = (pk: string) => ({ Put: { TableName, Item: key(pk) } });

const lists = [
  ["list-leads", "LEAD#a"],
  ["list-conversations", "CONVERSATION#a"],
] as const;

test.each(lists)("%s reads its list and the counts", (name, pk) => {
  expect(allows(name, "Query", query(pk, "pk = :pk AND sk < :to"))).toBe(true);
  expect(allows(name, "GetItem", { Key: key("COUNT#a#LEAD") })).toBe(true);
  expect(allows(name, "GetItem", { Key: key(pk) })).toBe(false);
  expect(allows(name, "Query", query("COUNT#a#LEAD"))).toBe(false);
});

test("list-conversations, which has no index of a lead's filtered conversations, reads them by their keys", () => {
  expect(allows("list-conversations", "BatchGetItem", batch("CONVERSATION#a", "CONVERSATION#b"))).toBe(true);
  expect(allows("list-conversations", "BatchGetItem", batch("CONVERSATION#a", "LEAD#a"))).toBe(false);
  expect(allows("list-conversations", "BatchGetItem", batch("KEY#a"))).toBe(false);
  expect(allows("list-leads", "BatchGetItem", batch("LEAD#a"))).toBe(false);
});

test.each(lists)("%s can write nothing but the rate limit's window", (name, pk) => {
  for (const target of [pk, "COUNT#a#LEAD", "KEY#a"]) {
    expect(allows(name, "PutItem", { Item: key(target) })).toBe(false);
    expect(allows(name, "UpdateItem", { Key: key(target) })).toBe(false);
    expect(allows(name, "DeleteItem", { Key: key(target) })).toBe(false);
    expect(allows(name, "TransactWriteItems", { TransactItems: [put(target)] })).toBe(false);
    const RequestItems = { [TableName]: [{ PutRequest: { Item: key(target) } }] };
    expect(allows(name, "BatchWriteItem", { RequestItems })).toBe(false);
  }
  expect(allows(name, "UpdateItem", { Key: key("RATE#a") })).toBe(true);
  expect(allows(name, "PutItem", { Item: key("RATE#a") })).toBe(false);
});

test("maintain-counts reads both lists and writes counts, in one transaction too, and nothing else", () => {
  const allowed = (operation: string, input: object) => allows("maintain-counts", operation, input);
  expect(allowed("Query", query("LEAD#a", "pk = :pk AND sk BETWEEN :from AND :to"))).toBe(true);
  expect(allowed("Query", query("CONVERSATION#a", "pk = :pk AND sk >= :from"))).toBe(true);
  for (const [pk, IndexName, attribute] of [
    ["LEAD#a#web", "by-origin", "byOrigin"],
    ["CONVERSATION#a#sms", "by-origin", "byOrigin"],
    ["CONVERSATION#a#lead_1", "by-parent", "byParent"],
  ] as const)
    expect(allowed("Query", { ...query(pk, `${attribute} = :pk AND sk < :to`), IndexName })).toBe(true);
  expect(allowed("BatchGetItem", batch("LEAD#a", "CONVERSATION#a"))).toBe(true);
  expect(allowed("GetItem", { Key: key("COUNT#a#LEAD") })).toBe(true);
  expect(allowed("PutItem", { Item: key("COUNT#a#LEAD") })).toBe(true);
  expect(allowed("TransactWriteItems", { TransactItems: [put("COUNT#a#LEAD"), put("COUNT#a#LEAD")] })).toBe(
    true,
  );

  expect(allowed("TransactWriteItems", { TransactItems: [put("COUNT#a#LEAD"), put("LEAD#a")] })).toBe(false);
  expect(allowed("Query", { ...query("LEAD#a", "byStatus = :pk"), IndexName: "by-status" })).toBe(false);
  expect(allowed("Query", { ...query("KEY#a", "byParent = :pk"), IndexName: "by-parent" })).toBe(false);
  expect(allowed("BatchGetItem", batch("LEAD#a", "KEY#a"))).toBe(false);
  expect(allowed("Query", query("MESSAGE#a"))).toBe(false);
  expect(allowed("DeleteItem", { Key: key("COUNT#a#LEAD") })).toBe(false);
  expect(allowed("GetItem", { Key: key("LEAD#a") })).toBe(false);
  expect(allowed("GetRecords", { ShardIterator: "x" })).toBe(false);
});
