import { Validations } from "aws-cdk-lib";
import { CfnLogGroup } from "aws-cdk-lib/aws-logs";
import { Bucket } from "aws-cdk-lib/aws-s3";
import { expect, test, vi } from "vitest";
import { stageResourceName } from "../../shared/stages.ts";
import { withEverything } from "../support/stack/stage-files.ts";
import { createTestApp, synthesizeApp } from "../support/stack/synthesize.ts";

test.each([
  ["dev", {}],
  ["prod", withEverything],
] as const)("Every cdk-nag finding in %s is acknowledged, and none for the whole stack or app", async (stage, settings) => {
  const app = await createTestApp(stage, settings);
  expect((await synthesizeApp(app, stage)).findings).toEqual([]);
  const acknowledging = app.node
    .findAll()
    .filter(({ node }) =>
      node.metadata.some(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY),
    )
    .map(({ node }) => node.path);
  expect(acknowledging.length).toBeGreaterThan(10);
  expect(acknowledging.filter((path) => !path.includes("/"))).toEqual([]);
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
