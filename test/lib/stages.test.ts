import { expect, test } from "vitest";
import { readConfig } from "../../lib/config/config.ts";
import { withEverything } from "../support/stack/stage-files.ts";
import { only, synthesize } from "../support/stack/synthesize.ts";

const stages = { dev: await synthesize("dev"), prod: await synthesize("prod") };

/** The deployed settings in which the stages differ. */
function readSettings({
  artifact,
  template,
}: Pick<Awaited<ReturnType<typeof synthesize>>, "artifact" | "template">) {
  const table = only(template, "AWS::DynamoDB::Table");
  const logGroups = Object.values(template.findResources("AWS::Logs::LogGroup"));
  return {
    stack: artifact.stackName,
    terminationProtection: artifact.terminationProtection ?? false,
    table: table.properties.TableName,
    deletionProtection: table.properties.DeletionProtectionEnabled,
    // Without a period, any second of the last 35 days can be restored.
    recovery: table.properties.PointInTimeRecoverySpecification,
    onDeletion: new Set(
      [table.resource, ...logGroups].flatMap((r) => [r.DeletionPolicy, r.UpdateReplacePolicy]),
    ),
    logDays: new Set(logGroups.map(({ Properties }) => Properties.RetentionInDays)),
    throttle: only(template, "AWS::ApiGatewayV2::Stage").properties.DefaultRouteSettings,
    cacheSeconds: only(template, "AWS::ApiGatewayV2::Authorizer").properties.AuthorizerResultTtlInSeconds,
  };
}

test("dev loses its data and logs when its stack is deleted", () => {
  expect(readSettings(stages.dev)).toEqual({
    stack: "leads-and-conversations-dev",
    terminationProtection: false,
    table: "leads-and-conversations-dev",
    deletionProtection: false,
    recovery: { PointInTimeRecoveryEnabled: false },
    onDeletion: new Set(["Delete"]),
    logDays: new Set([7]),
    throttle: { ThrottlingRateLimit: 500, ThrottlingBurstLimit: 500 },
    cacheSeconds: 60,
  });
});

test("the shipped prod has a canary and archives its events for seven days, and the shipped dev has neither", () => {
  const read = (stage: string) => {
    const { canary, eventArchiveDays } = readConfig({ stage });
    return { canary, eventArchiveDays };
  };
  expect(read("prod")).toEqual({ canary: true, eventArchiveDays: 7 });
  expect(read("dev")).toEqual({ canary: false, eventArchiveDays: undefined });
});

test("prod keeps its data", () => {
  expect(readSettings(stages.prod)).toEqual({
    stack: "leads-and-conversations-prod",
    terminationProtection: true,
    table: "leads-and-conversations-prod",
    deletionProtection: true,
    recovery: { PointInTimeRecoveryEnabled: true },
    onDeletion: new Set(["RetainExceptOnCreate", "Retain"]),
    logDays: new Set([90]),
    throttle: { ThrottlingRateLimit: 5000, ThrottlingBurstLimit: 2500 },
    cacheSeconds: 60,
  });
});

test("a stage is deployed to the AWS account and region of its settings, and caches keys for the time that they set", async () => {
  const pinned = { account: "123456789012", region: "eu-central-1" };
  const { artifact, template } = await synthesize("prod", { ...pinned, authorizerCacheSeconds: 7 });
  expect(readSettings({ artifact, template }).cacheSeconds).toBe(7);
  expect(artifact.environment).toMatchObject({ account: "123456789012", region: "eu-central-1" });
  // A lookup in the AWS account would need credentials and a network.
  expect(artifact.assembly.manifest.missing).toBeUndefined();
});

test("a stage without an AWS account and a region is deployed to those of the credentials", () => {
  const { environment, tags } = stages.prod.artifact;
  expect(environment).toMatchObject({ account: "unknown-account", region: "unknown-region" });
  // A stack's tag is put on each resource, and `cdk diff` does not show it.
  expect(tags).toEqual({});
});

/** The properties that name resources, and AWS's limits for these names, in characters. */
const longestNames: Readonly<Record<string, [property: string, length: number]>> = {
  "AWS::DynamoDB::Table": ["TableName", 255],
  "AWS::CodeDeploy::Application": ["ApplicationName", 100],
  "AWS::Events::EventBus": ["Name", 256],
  "AWS::Events::Archive": ["ArchiveName", 48],
  "AWS::ApiGatewayV2::Api": ["Name", 128],
  "AWS::CloudWatch::Alarm": ["AlarmName", 255],
  "AWS::Logs::LogGroup": ["LogGroupName", 512],
  "AWS::Logs::MetricFilter": ["FilterName", 512],
};

test("a stage with every setting and the longest name passes the CDK's validation, and all names fit AWS's limits", async () => {
  const stage = `x${"0123456789-".repeat(2)}`.slice(0, 21);
  const { artifact, template, report } = await synthesize(stage, withEverything, { validated: true });
  expect(artifact.stackName).toBe(`leads-and-conversations-${stage}`);
  expect(artifact.stackName.length).toBeLessThanOrEqual(128);
  expect(report?.pluginReports).toEqual([]);
  for (const { Type, Properties } of Object.values(template.toJSON().Resources) as Resource[]) {
    for (const [property, name] of Object.entries(Properties ?? {})) {
      if (!/Name$/.test(property) || typeof name !== "string" || !name.includes(stage)) continue;
      const [known, length] = longestNames[Type] ?? [];
      expect([Type, property]).toEqual([Type, known]);
      expect(name.length).toBeLessThanOrEqual(length ?? 0);
    }
  }
});

interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}
