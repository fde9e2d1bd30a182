import { marshall } from "@aws-sdk/util-dynamodb";
import type { Template } from "aws-cdk-lib/assertions";
import { expect, onTestFinished, test, vi } from "vitest";
import { checkIamAccess } from "../../../lib/local/iam/check-iam-access.ts";
import { findPartitionKey } from "../../../lib/local/template/table-definition.ts";
import { deleteEarlierRows } from "../../../shared/canary/earlier-rows.ts";
import { table } from "../../../shared/dynamodb/table-client.ts";
import { only, synthesize } from "../../support/stack/synthesize.ts";
import { idOf } from "../../support/tables/stored.ts";

const { template, functions, aliases, local } = await synthesize("prod");
const [canaryId = ""] = [...functions].find(([, name]) => name === "canary") ?? [];

const readVariables = ({ template }: { template: Template }) =>
  template.findResources("AWS::Lambda::Function")[canaryId]?.Properties.Environment.Variables;

test.each([
  ["canary", "Monitoring", "rate(5 minutes)"],
  ["audit-counts", "Counting", "rate(1 hour)"],
])("%s is called by the schedule of %s at a %s, which may call nothing else", (name, construct, rate) => {
  const { Target, ...schedule } = only(template, "AWS::Scheduler::Schedule", construct).properties;
  expect(schedule).toEqual({
    Description: expect.any(String),
    ScheduleExpression: rate,
    FlexibleTimeWindow: { Mode: "OFF" },
  });
  expect(aliases.get(Target.Arn.Ref)).toBe(name);
  const [id] = [...functions].find(([, each]) => each === name) ?? [];
  const role = template.findResources("AWS::IAM::Role")[Target.RoleArn["Fn::GetAtt"][0]]?.Properties;
  expect(role.AssumeRolePolicyDocument.Statement).toEqual([
    {
      Effect: "Allow",
      Action: "sts:AssumeRole",
      Principal: { Service: "scheduler.amazonaws.com" },
      Condition: { StringEquals: { "aws:SourceAccount": { Ref: "AWS::AccountId" } } },
    },
  ]);
  expect(role.Policies[0].PolicyDocument.Statement).toEqual([
    {
      Effect: "Allow",
      Action: "lambda:InvokeFunction",
      Resource: [{ "Fn::GetAtt": [id, "Arn"] }, Target.Arn],
    },
  ]);
});

test("No run of the canary or the audit is repeated: a success would hide the failure", () => {
  const schedules = Object.values(template.findResources("AWS::Scheduler::Schedule"));
  const invocations = Object.values(template.findResources("AWS::Lambda::EventInvokeConfig"));
  expect(schedules.map(({ Properties }) => Properties.Target.RetryPolicy)).toEqual(
    Array(2).fill({ MaximumRetryAttempts: 0 }),
  );
  const called = schedules.map(({ Properties }) => aliases.get(Properties.Target.Arn.Ref));
  const configured = invocations.map(({ Properties: { Qualifier, ...properties } }) => {
    expect(properties).toMatchObject({ MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 300 });
    const [, alias = ""] = /"Ref":"(\w+)"/.exec(JSON.stringify(Qualifier)) ?? [];
    return aliases.get(alias);
  });
  expect(configured.sort()).toEqual(called.sort());
});

test("The canary has the address of the API, the name and the account of its key, and the table", () => {
  const { API_URL, ...variables } = readVariables({ template });
  expect(variables).toEqual({
    KEY_PARAMETER: "/leads-and-conversations-prod/canary-key",
    KEY_ACCOUNT: "canary",
    TABLE_NAME: { Ref: only(template, "AWS::DynamoDB::Table").id },
    RELEASE: expect.stringMatching(/\+ab12cd3$/),
  });
  const apiId = { Ref: only(template, "AWS::ApiGatewayV2::Api").id };
  const host = [apiId, ".execute-api.", { Ref: "AWS::Region" }, ".", { Ref: "AWS::URLSuffix" }];
  expect(API_URL).toEqual({ "Fn::Join": ["", ["https://", ...host, "/"]] });
});

test("With a custom domain, the canary uses it", async () => {
  const certificateArn = "arn:aws:acm:eu-west-1:123456789012:certificate/abc-123";
  const changed = await synthesize("prod", { domainName: "api.example.com", certificateArn });
  expect(readVariables(changed).API_URL).toBe("https://api.example.com/");
});

test.each([
  ["dev", {}],
  ["prod", { canary: false }],
] as const)("%s with %j has no canary", async (stage, context) => {
  const { template } = await synthesize(stage, context);
  expect(JSON.stringify(template.toJSON())).not.toMatch(/canary/i);
});

test("The canary may delete the rows of its account", async () => {
  const [canary] = local.functions.filter(({ label }) => label === "canary");
  if (!canary) throw new Error("There is no canary.");
  const allowed: Record<string, boolean> = {};
  const send = vi.spyOn(table, "send").mockImplementation((async (command: object) => {
    const { Key, ExpressionAttributeValues: values, ...input } = Reflect.get(command, "input");
    const images = {
      ...(Key && { Key: marshall(Key) }),
      ...(values && { ExpressionAttributeValues: marshall(values) }),
    };
    const TableName = local.table.input.TableName;
    const body = Buffer.from(JSON.stringify({ ...input, ...images, TableName }));
    const operation = Key ? "DeleteItem" : "Query";
    const pk: string = Key?.pk ?? values[":pk"];
    const denial = checkIamAccess(canary, operation, body, (index) => findPartitionKey(local.table, index));
    allowed[`${operation} ${pk.split("#")[0]}`] = denial === undefined;
    return { Items: [{ pk, sk: idOf(pk.startsWith("CONVERSATION") ? "conv" : "lead", 1) }] };
  }) as never);
  onTestFinished(() => send.mockRestore());
  for (const type of ["conversation", "lead"] as const) await deleteEarlierRows(type, "canary");
  const types = ["CONVERSATION", "MESSAGE", "LEAD", "ACTIVE"];
  const operations = types.flatMap((type) => [`Query ${type}`, `DeleteItem ${type}`]);
  const all = [...operations, "DeleteItem EXTERNAL"];
  expect(allowed).toEqual(Object.fromEntries(all.map((operation) => [operation, true])));
});
