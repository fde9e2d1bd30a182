import { type App, Validations } from "aws-cdk-lib";
import { CfnLogGroup } from "aws-cdk-lib/aws-logs";
import { Bucket } from "aws-cdk-lib/aws-s3";
import { expect, test, vi } from "vitest";
import { functionNames } from "../../lib/bundling/bundle.ts";
import { stageTableName } from "../../shared/stages.ts";
import type { TestSettings } from "../support/stage-files.ts";
import { createTestApp, synthesizeApp } from "../support/synthesize.ts";

async function synthesizeChecked(stage: string, settings: TestSettings = {}) {
  const app = await createTestApp(stage, settings);
  return { app, ...(await synthesizeApp(app, stage, false)) };
}

const synthesized = {
  dev: await synthesizeChecked("dev"),
  prod: await synthesizeChecked("prod"),
};

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

test.each(["dev", "prod"] as const)("Every cdk-nag finding in %s is acknowledged with a reason", (stage) => {
  const { app, report } = synthesized[stage];
  expect(report?.pluginReports).toEqual([]);
  const deployed = functionNames.filter((name) => stage === "prod" || name !== "canary");
  const expected = deployed.flatMap((name) => [
    `${stageTableName(stage)}/${name}/Function/Resource Serverless-LambdaDLQ`,
    `${stageTableName(stage)}/${name}/Function/Resource Serverless-LambdaTracing`,
  ]);
  for (const reader of ["Counting", "Events"]) {
    const queue = `${stageTableName(stage)}/${reader}/Failures/Resource`;
    expected.push(`${queue} AwsSolutions-SQS3`, `${queue} Serverless-SQSRedrivePolicy`);
  }
  for (const name of deployed.filter((each) => ["audit-counts", "canary"].includes(each)))
    expected.push(`${stageTableName(stage)}/${name}/Alias Serverless-LambdaAsyncFailureDestination`);
  if (stage === "dev") expected.push(`${stageTableName(stage)}/Table/Resource AwsSolutions-DDB3`);
  expect(acknowledged(app).sort()).toEqual(expected.sort());
});

/** Settings with further resources. */
const further = {
  deployment: "canary",
  eventArchiveDays: 7,
  corsOrigins: ["https://app.example.com", "https://admin.example.com"],
  domainName: "api.example.com",
  certificateArn: "arn:aws:acm:eu-west-1:123456789012:certificate/8c5b0f9a-6f0e-4b3a-9d55-0f2a1c3d4e5f",
};

test("Gradual deployments add one finding; CORS, a domain and an archive none", async () => {
  const { app, report } = await synthesizeChecked("prod", further);
  expect(report?.pluginReports).toEqual([]);
  const role = `${stageTableName("prod")}/Deployment/Role/Resource`;
  const before = acknowledged(synthesized.prod.app);
  const added = acknowledged(app).filter((finding) => !before.includes(finding));
  const policy = "arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited";
  expect(added).toEqual([`${role} AwsSolutions-IAM4[Policy::${policy}]`]);
});

test.each([
  undefined,
  "false",
])("A finding of either rule pack fails the synthesis and is named, without a stack trace: CDK_VALIDATION=%s", async (validation) => {
  vi.stubEnv("CDK_VALIDATION", validation);
  // In tests, the CDK throws the report in place of printing it.
  vi.stubEnv("NODE_ENV", "");
  const app = await createTestApp("dev");
  const stack = app.node.findChild(stageTableName("dev"));
  new Bucket(stack, "Bucket");
  new CfnLogGroup(stack, "EndlessLogs");
  vi.doMock("../../lib/app.ts", () => ({ createApp: async () => app }));
  const print = vi.spyOn(console, "error").mockReturnValue();
  vi.resetModules();
  await import("../../bin/app.ts");
  expect(process.exitCode).toBe(1);
  process.exitCode = undefined;
  const report = /AwsSolutions-S1'[\s\S]*Serverless-CloudWatchLogGroupRetentionPeriod'/;
  expect(print.mock.calls.slice(-2)).toEqual([
    [expect.stringMatching(report)],
    [expect.stringMatching(/^Validation failed[.] A copy of this report can be found in: /)],
  ]);
});
