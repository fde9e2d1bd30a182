import { type App, Validations } from "aws-cdk-lib";
import { CfnLogGroup } from "aws-cdk-lib/aws-logs";
import { Bucket } from "aws-cdk-lib/aws-s3";
import { expect, test, vi } from "vitest";
import { functionNames } from "../../lib/bundling/bundle.ts";
import { stageResourceName } from "../../shared/stages.ts";
import { withEverything } from "../support/stack/stage-files.ts";
import { createTestApp, synthesizeApp } from "../support/stack/synthesize.ts";

/** Every acknowledged finding of the app, with the path of its construct. */
function acknowledged(app: App): string[] {
  return app.node
    .findAll()
    .flatMap(({ node }) =>
      node.metadata
        .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
        .flatMap(({ data }) =>
          Object.keys(data).map((rule) => `${node.path} ${rule.replace(/^annotation::/i, "")}`),
        ),
    );
}

/** The findings that both stages acknowledge. Those of all functions are merged. */
const ofBoth = [
  "/Function/Resource Serverless-LambdaDLQ",
  "/Function/Resource Serverless-LambdaTracing",
  "audit-counts/Alias Serverless-LambdaAsyncFailureDestination",
  "Counting/Failures/Resource AwsSolutions-SQS3",
  "Counting/Failures/Resource Serverless-SQSRedrivePolicy",
  "Events/Failures/Resource AwsSolutions-SQS3",
  "Events/Failures/Resource Serverless-SQSRedrivePolicy",
];

const ofOne = {
  dev: ["Table/Resource AwsSolutions-DDB3"],
  prod: [
    "/Role AwsSolutions-IAM5[Resource::*]",
    "/Role Serverless-LambdaStarPermissions",
    "canary/Alias Serverless-LambdaAsyncFailureDestination",
    "Channels/Source/Resource Serverless-LambdaEventSourceMappingDestination",
    "Channels/Undelivered/Resource AwsSolutions-SQS3",
    "Channels/Undelivered/Resource Serverless-SQSRedrivePolicy",
    "deliver-message AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ssm:<AWS::Region>:<AWS::AccountId>:parameter/leads-and-conversations-prod/channels/*/token]",
    "Deployment/Role/Resource AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]",
  ],
};

test.each([
  ["dev", {}],
  ["prod", withEverything],
] as const)("Every cdk-nag finding in %s is acknowledged with a reason", async (stage, settings) => {
  const app = await createTestApp(stage, settings);
  expect((await synthesizeApp(app, stage)).findings).toEqual([]);
  const path = new RegExp(
    `^${stageResourceName(stage)}/(?:(?:${functionNames.join("|")})(?=/(?:Function|Role)))?`,
  );
  const found = acknowledged(app).map((text) => text.replace(path, ""));
  expect([...new Set(found)].sort()).toEqual([...ofBoth, ...ofOne[stage]].sort());
});

test("A finding of either rule pack fails the synthesis, even with CDK_VALIDATION=false", async () => {
  vi.stubEnv("CDK_VALIDATION", "false");
  // In tests, the CDK throws the report in place of printing it.
  vi.stubEnv("NODE_ENV", "");
  const app = await createTestApp("dev");
  const stack = app.node.findChild(stageResourceName("dev"));
  new Bucket(stack, "Bucket");
  new CfnLogGroup(stack, "EndlessLogs");
  const print = vi.spyOn(console, "error").mockReturnValue();
  expect(() => app.synth()).toThrow("Validation failed");
  expect(print.mock.lastCall).toEqual([
    expect.stringMatching(/AwsSolutions-S1'[\s\S]*Serverless-CloudWatchLogGroupRetentionPeriod'/),
  ]);
});
