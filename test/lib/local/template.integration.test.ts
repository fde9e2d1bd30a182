import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import type { Properties, Template } from "../../../lib/local/template/intrinsics.ts";
import { parseStack } from "../../../lib/local/template/template.ts";
import { UserError } from "../../../lib/user-error.ts";
import { stack } from "../../support/stack/role-check.ts";

const directory = inject("engine").assembly;
const files = await readdir(directory);
const read = (suffix: string) =>
  readFile(join(directory, files.find((name) => name.endsWith(suffix)) ?? ""), "utf8");
const [template, assets] = [await read(".template.json"), await read(".assets.json")];

test("only the bundle of a function is uploaded, and its source map stays beside it", async () => {
  for (const { codeDirectory, label } of stack.functions) {
    expect(await readdir(codeDirectory)).toEqual(["index.cjs"]);
    expect(await readdir(join(codeDirectory, "../bundles", label))).toEqual(["index.cjs", "index.cjs.map"]);
  }
});

/** Changes the properties of each resource of a type. */
const change = (type: string, properties: Properties) => (resources: Template["Resources"]) => {
  for (const { Type, Properties = {} } of Object.values(resources))
    if (Type === type) Object.assign(Properties, properties);
};
const route = (properties: Properties) => change("AWS::ApiGatewayV2::Route", properties);
function policy(elements: object) {
  const Statement = { Effect: "Allow", Action: "dynamodb:*", Resource: "*", ...elements };
  return change("AWS::IAM::Role", { Policies: [{ PolicyDocument: { Statement: [Statement] } }] });
}
const source = (properties: Properties) => change("AWS::Lambda::EventSourceMapping", properties);
const filters = (pattern: object) => ({
  FilterCriteria: { Filters: [{ Pattern: JSON.stringify(pattern) }] },
});

test.each<[string, ReturnType<typeof change>, string]>([
  ["a path parameter", route({ RouteKey: "GET /{id}" }), "cannot serve the route"],
  ["a condition", policy({ Condition: { StringLike: { "dynamodb:LeadingKeys": "x" } } }), "StringLike on"],
  [
    "an operator for one value on a key with several",
    policy({ Condition: { StringEqualsIfExists: { "dynamodb:Attributes": "pk" } } }),
    "StringEqualsIfExists on dynamodb:Attributes",
  ],
  ["NotAction", policy({ NotAction: "s3:*" }), "NotAction"],
  ["a denial", policy({ Effect: "Deny" }), "denies something"],
  ["an unknown filter", source(filters({ a: [{ exists: true }] })), "cannot evaluate"],
  ["an unknown role", change("AWS::Lambda::Function", { Role: "arn:elsewhere" }), "does not define"],
  [
    "a value of another stack",
    source({ FunctionName: { "Fn::ImportValue": "x" } }),
    "does not support Fn::ImportValue",
  ],
])("%s, which the local run does not know, is rejected with a sentence", (_, edit, message) => {
  const changed = JSON.parse(template) as Template;
  edit(changed.Resources);
  const parse = () => parseStack(changed, JSON.parse(assets), directory);
  expect(parse).toThrow(UserError);
  expect(parse).toThrow(message);
});
