import type { Template } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";
import { only, synthesize } from "../../support/stack/synthesize.ts";

const { template, functions, aliases } = await synthesize("prod");
const [canaryId = ""] = [...functions].find(([, name]) => name === "canary") ?? [];

const readVariables = ({ template }: { template: Template }) =>
  template.findResources("AWS::Lambda::Function")[canaryId]?.Properties.Environment.Variables;

test.each([
  ["canary", "Canary", "rate(5 minutes)"],
  ["audit-counts", "Counting", "rate(1 hour)"],
])("%s is called by the schedule of %s at a %s, which may call nothing else and never retries", (name, construct, rate) => {
  const { Target, ...schedule } = only(template, "AWS::Scheduler::Schedule", construct).properties;
  expect(schedule).toEqual({ ScheduleExpression: rate, FlexibleTimeWindow: { Mode: "OFF" } });
  expect(aliases.get(Target.Arn.Ref)).toBe(name);
  // A later success would hide the failure.
  expect(Target.RetryPolicy).toEqual({ MaximumRetryAttempts: 0 });
  const invocations = Object.values(template.findResources("AWS::Lambda::EventInvokeConfig"));
  const [invocation] = invocations.filter(({ Properties }) =>
    JSON.stringify(Properties.Qualifier).includes(Target.Arn.Ref),
  );
  expect(invocation?.Properties).toMatchObject({ MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 300 });
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

test("The canary gets the URL of the API and the name of its key, but not the table", () => {
  const { API_URL, ...variables } = readVariables({ template });
  expect(variables).toEqual({
    KEY_PARAMETER: "/leads-and-conversations-prod/canary-key",
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
