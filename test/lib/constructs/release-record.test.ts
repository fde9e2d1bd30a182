import { expect, test } from "vitest";
import manifest from "../../../package.json" with { type: "json" };
import { dataFormat } from "../../../shared/dynamodb/stored-release.ts";
import { only, synthesize } from "../../support/synthesize.ts";

const release = `${manifest.version}+ab12cd3`;
const { template, artifact, functions, local } = await synthesize("prod");
const table = { Ref: only(template, "AWS::DynamoDB::Table").id };

test("A deployment writes the release and the data format into one item, and leaves the rest of it", () => {
  const { Create, Update } = only(template, "Custom::AWS").properties;
  const [start, end] = Update["Fn::Join"][1].filter((part: unknown) => typeof part === "string");
  expect(Update["Fn::Join"][1]).toContainEqual(table);
  const call = JSON.parse(`${start}T${end}`);
  expect(Create ?? Update).toEqual(Update);
  expect([call.service, call.action, call.parameters.Key]).toEqual([
    "DynamoDB",
    "UpdateItem",
    { pk: { S: "RELEASE#table" }, sk: { S: "deployed" } },
  ]);
  expect(call.parameters.UpdateExpression).toBe("SET releaseName = :release, dataFormat = :dataFormat");
  expect(call.parameters.ExpressionAttributeValues).toEqual({
    ":release": { S: release },
    ":dataFormat": { N: String(dataFormat) },
  });
});

test("The role of the write may change only this item", () => {
  const { PolicyDocument } = only(template, "AWS::IAM::Policy", "ReleaseRecord").properties;
  expect(PolicyDocument.Statement).toEqual([
    {
      Effect: "Allow",
      Action: "dynamodb:UpdateItem",
      Resource: { "Fn::GetAtt": [table.Ref, "Arn"] },
      Condition: {
        "ForAllValues:StringEquals": { "dynamodb:LeadingKeys": ["RELEASE#table"] },
        Null: { "dynamodb:LeadingKeys": "false" },
      },
    },
  ]);
});

test("The stack and its outputs name the release", () => {
  expect(artifact.tags).toMatchObject({ release });
  const { Description } = template.toJSON();
  expect(Description).toBe(`Leads and conversations REST API (prod), release ${release}`);
  const outputs = template.findOutputs("*");
  expect([outputs.Release?.Value, outputs.DataFormat?.Value]).toEqual([release, String(dataFormat)]);
});

test("The local run does not run the function that writes the item", () => {
  expect(local.functions.map(({ label }) => label).sort()).toEqual([...functions.values()].sort());
});
