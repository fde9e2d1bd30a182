import { expect, test } from "vitest";
import { type Decision, evaluate } from "../../../../lib/local/iam/iam-policy.ts";
import { readStatements } from "../../../../lib/local/template/statements.ts";

const table = "arn:aws:dynamodb:local:000000000000:table/probes";
const leadingKeys = (operator: string, ...keys: string[]) => ({
  [operator]: { "dynamodb:LeadingKeys": keys },
});
const like = (...keys: string[]) => leadingKeys("ForAllValues:StringLike", ...keys);

const keys = (...values: string[]) => ({ context: { "dynamodb:LeadingKeys": values } });
const attributes = (...values: string[]) => ({ context: { "dynamodb:Attributes": values } });
const returned = (...values: string[]) => ({ context: { "dynamodb:ReturnValues": values } });
const withoutExpiry = {
  Action: "*",
  Condition: { "ForAllValues:StringNotEquals": { "dynamodb:Attributes": ["expiresAt", "byParent"] } },
};
const onlyKey = {
  Action: "*",
  Condition: { "ForAllValues:StringEquals": { "dynamodb:Attributes": ["pk", "sk"] } },
};
const returnsNone = {
  Action: "*",
  Condition: { StringEqualsIfExists: { "dynamodb:ReturnValues": "NONE" } },
};
const both = { Action: "*", Condition: { ...withoutExpiry.Condition, ...returnsNone.Condition } };

function decide(documents: object[], access: object): Decision {
  const Statement = documents.map((document) => ({ Effect: "Allow", Resource: table, ...document }));
  const statements = readStatements({ PolicyDocument: { Statement } }, (value) => value);
  return evaluate(statements, {
    action: "dynamodb:GetItem",
    resource: table,
    context: { "dynamodb:LeadingKeys": ["LEAD#a"] },
    ...access,
  });
}

test.each<[string, object[], object, Decision]>([
  ["no statement", [], {}, "not allowed"],
  ["the action", [{ Action: "dynamodb:GetItem" }], {}, "allowed"],
  ["the action in any case", [{ Action: "DynamoDB:getitem" }], {}, "allowed"],
  ["one action of many", [{ Action: ["dynamodb:Query", "dynamodb:GetItem"] }], {}, "allowed"],
  ["a pattern of actions", [{ Action: "dynamodb:Get*" }], {}, "allowed"],
  ["every action", [{ Action: "*" }], {}, "allowed"],
  ["another action", [{ Action: "dynamodb:PutItem" }], {}, "not allowed"],
  [
    "the table for its index",
    [{ Action: "dynamodb:GetItem" }],
    { resource: `${table}/index/x` },
    "not allowed",
  ],
  [
    "a pattern of indexes",
    [{ Action: "*", Resource: `${table}/index/*` }],
    { resource: `${table}/index/x` },
    "allowed",
  ],
  ["another table", [{ Action: "*", Resource: `${table}2` }], {}, "not allowed"],
  ["a matching key", [{ Action: "*", Condition: like("LEAD#*") }], {}, "allowed"],
  ["one of two patterns", [{ Action: "*", Condition: like("KEY#*", "LEAD#?") }], {}, "allowed"],
  ["another type's key", [{ Action: "*", Condition: like("KEY#*") }], {}, "not allowed"],
  ["a pattern's special characters", [{ Action: "*", Condition: like("LEAD.a") }], {}, "not allowed"],
  ["one key of two", [{ Action: "*", Condition: like("LEAD#*") }], keys("LEAD#a", "KEY#b"), "not allowed"],
  ["no key at all", [{ Action: "*", Condition: like("LEAD#*") }], keys(), "allowed"],
  [
    "no key at all, where one is required",
    [{ Action: "*", Condition: { ...like("LEAD#*"), Null: { "dynamodb:LeadingKeys": "false" } } }],
    { context: {} },
    "not allowed",
  ],
  [
    "an empty list of keys, where one is required",
    [{ Action: "*", Condition: { Null: { "dynamodb:LeadingKeys": "false" } } }],
    keys(),
    "not allowed",
  ],
  [
    "a key, where one is required",
    [{ Action: "*", Condition: { Null: { "dynamodb:LeadingKeys": "false" } } }],
    {},
    "allowed",
  ],
  [
    "a key, where none may be",
    [{ Action: "*", Condition: { Null: { "dynamodb:LeadingKeys": "true" } } }],
    {},
    "not allowed",
  ],
  ["other attributes than the excluded ones", [withoutExpiry], attributes("pk", "name"), "allowed"],
  ["an excluded attribute among others", [withoutExpiry], attributes("pk", "expiresAt"), "not allowed"],
  ["an attribute that differs in its case", [withoutExpiry], attributes("pk", "expiresat"), "allowed"],
  ["no attributes", [withoutExpiry], { context: {} }, "allowed"],
  ["only the listed attributes", [onlyKey], attributes("pk"), "allowed"],
  ["an attribute that is not listed", [onlyKey], attributes("pk", "email"), "not allowed"],
  ["the only value of a single key", [returnsNone], returned("NONE"), "allowed"],
  ["another value of a single key", [returnsNone], returned("ALL_OLD"), "not allowed"],
  ["one value of two", [returnsNone], returned("NONE", "ALL_OLD"), "not allowed"],
  ["no value of a single key, if it need not exist", [returnsNone], { context: {} }, "allowed"],
  ["conditions of which one fails", [both], attributes("pk", "expiresAt"), "not allowed"],
  [
    "an equal key",
    [{ Action: "*", Condition: leadingKeys("ForAllValues:StringEquals", "LEAD#a") }],
    {},
    "allowed",
  ],
  [
    "no wildcards in equality",
    [{ Action: "*", Condition: leadingKeys("ForAllValues:StringEquals", "LEAD#*") }],
    {},
    "not allowed",
  ],
  [
    "an explicit denial",
    [{ Action: "*" }, { Effect: "Deny", Action: "dynamodb:Get*" }],
    {},
    "explicitly denied",
  ],
  [
    "a denial of another key",
    [{ Action: "*" }, { Effect: "Deny", Action: "*", Condition: like("KEY#*") }],
    {},
    "allowed",
  ],
  [
    "statements are not mixed",
    [{ Action: "dynamodb:GetItem", Condition: like("KEY#*") }, { Action: "dynamodb:PutItem" }],
    {},
    "not allowed",
  ],
])("%s", (_, documents, access, decision) => {
  expect(decide(documents, access)).toBe(decision);
});
