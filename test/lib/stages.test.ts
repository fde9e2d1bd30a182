import { isDeepStrictEqual } from "node:util";
import type { Template } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";
import { withEverything } from "../support/stack/stage-files.ts";
import { createTestApp, only, synthesize, synthesizeApp } from "../support/stack/synthesize.ts";

const stages = { dev: await synthesize("dev"), prod: await synthesize("prod") };

test.each([
  ["dev", false, ["Delete"], 7, 500, 500],
  ["prod", true, ["RetainExceptOnCreate", "Retain"], 90, 5000, 2500],
] as const)("%s has its settings, and keeps its data and logs when its stack is deleted: %s", (...args) => {
  const [stage, keepsData, onDeletion, logDays, ThrottlingRateLimit, ThrottlingBurstLimit] = args;
  const { artifact, template } = stages[stage];
  const { properties, resource } = only(template, "AWS::DynamoDB::Table");
  const name = `leads-and-conversations-${stage}`;
  expect([artifact.stackName, artifact.terminationProtection ?? false]).toEqual([name, keepsData]);
  expect(properties).toMatchObject({
    TableName: name,
    DeletionProtectionEnabled: keepsData,
    // Without a period, any second of the last 35 days can be restored.
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: keepsData },
  });
  const logGroups = Object.values(template.findResources("AWS::Logs::LogGroup"));
  for (const { DeletionPolicy, UpdateReplacePolicy } of [resource, ...logGroups])
    expect(new Set([DeletionPolicy, UpdateReplacePolicy])).toEqual(new Set(onDeletion));
  for (const { Properties } of logGroups) expect(Properties.RetentionInDays).toBe(logDays);
  const throttle = { ThrottlingRateLimit, ThrottlingBurstLimit };
  expect(only(template, "AWS::ApiGatewayV2::Stage").properties.DefaultRouteSettings).toEqual(throttle);
});

interface Resource {
  readonly Type: string;
  readonly DeletionPolicy?: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

const readResources = (template: Template): [id: string, Resource][] =>
  Object.entries(template.toJSON().Resources);

/**
 * Whether a resource blocks the next attempt, because it stays after the creation of another resource has failed.
 *
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
 */
const isInTheWay = ({ DeletionPolicy = "Delete", Properties }: Resource) =>
  Properties?.DeletionProtectionEnabled === true ||
  !["Delete", "RetainExceptOnCreate"].includes(DeletionPolicy);

test("the first deployment of a stage that keeps its data can be repeated after any resource has failed, and the next one protects stack and table", async () => {
  const settings = { deployment: "canary", eventArchiveDays: 7 };
  const app = await createTestApp("prod", settings, false, { protected: "false" });
  const { artifact, template } = await synthesizeApp(app, "prod");
  const first = readResources(template);
  expect(first.length).toBeGreaterThan(100);
  // The CDK's command line deletes a failed stack first, unless it is protected.
  expect(artifact.terminationProtection ?? false).toBe(false);
  expect(first.filter(([, resource]) => isInTheWay(resource))).toEqual([]);

  const later = await synthesize("prod", settings);
  expect(later.artifact.terminationProtection).toBe(true);
  const after = readResources(later.template);
  expect(after.map(([id]) => id)).toEqual(first.map(([id]) => id));
  const changed = after.filter(([, resource], index) => !isDeepStrictEqual(resource, first[index]?.[1]));
  expect(changed.map(([, { Type }]) => Type)).toEqual(["AWS::DynamoDB::Table"]);
});

test("a stage is deployed to the AWS account and region of its settings, and caches keys for the time that they set", async () => {
  const pinned = { account: "123456789012", region: "eu-central-1" };
  const { artifact, template } = await synthesize("prod", { ...pinned, authorizerCacheSeconds: 7 });
  const { properties } = only(template, "AWS::ApiGatewayV2::Authorizer");
  expect(properties.AuthorizerResultTtlInSeconds).toBe(7);
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

test("a stage with every setting and the longest name passes the CDK's validation, also of the lengths of all names", async () => {
  const stage = `x${"0123456789-".repeat(2)}`.slice(0, 21);
  const { artifact, findings } = await synthesize(stage, withEverything, true);
  expect(artifact.stackName).toBe(`leads-and-conversations-${stage}`);
  expect(findings).toEqual([]);
});
