// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Fn::Sub takes such texts.
import { expect, test } from "vitest";
import { createResolver } from "../../../../lib/local/template/intrinsics.ts";

const resolve = createResolver("stack", {
  Resources: {
    Table: { Type: "AWS::DynamoDB::Table", Properties: { TableName: { "Fn::Sub": "t-${AWS::StackName}" } } },
    Unnamed: { Type: "AWS::DynamoDB::GlobalTable" },
    Bucket: { Type: "AWS::S3::Bucket" },
  },
});

test.each([
  ["plain", "plain"],
  [7, 7],
  [null, null],
  [{ a: [{ Ref: "AWS::AccountId" }] }, { a: ["000000000000"] }],
  [{ Ref: "AWS::Region" }, "local"],
  [{ Ref: "AWS::Partition" }, "aws"],
  [{ Ref: "Table" }, "t-stack"],
  [{ Ref: "Unnamed" }, "Unnamed"],
  [{ "Fn::GetAtt": ["Table", "Arn"] }, "arn:aws:dynamodb:local:000000000000:table/t-stack"],
  [{ "Fn::GetAtt": "Table.StreamArn" }, "arn:aws:dynamodb:local:000000000000:table/t-stack/stream/local"],
  [{ "Fn::Join": ["/", ["a", { Ref: "Table" }, "c"]] }, "a/t-stack/c"],
  [
    { "Fn::Sub": "${AWS::Region}:${Table}:${Table.Arn}:${!Kept}" },
    "local:t-stack:arn:aws:dynamodb:local:000000000000:table/t-stack:${Kept}",
  ],
  [{ "Fn::Sub": ["${x}", { x: { Ref: "Table" } }] }, "t-stack"],
  [{ "Fn::Select": [1, { "Fn::Split": ["-", { Ref: "Table" }] }] }, "stack"],
])("%j is %j", (value, result) => {
  expect(resolve(value)).toEqual(result);
});

test.each([
  [{ "Fn::ImportValue": "x" }, "does not support Fn::ImportValue in the template"],
  [{ Ref: "Nowhere" }, 'refers to "Nowhere"'],
  [{ "Fn::GetAtt": ["Bucket", "Arn"] }, "does not support the attribute Arn of Bucket in the template"],
  [{ "Fn::GetAtt": ["Table", "Colour"] }, "does not support the attribute Colour"],
])("%j is rejected", (value, message) => {
  expect(() => resolve(value)).toThrow(message);
});
