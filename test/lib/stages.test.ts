import { expect, test } from "vitest";
import type { Stage } from "../../shared/stages.ts";
import { only, synthesize } from "../support/synthesize.ts";

const stages = { dev: await synthesize("dev"), prod: await synthesize("prod") };

/** The deployed settings in which the stages differ. */
function readSettings({ artifact, template }: (typeof stages)[Stage]) {
  const table = only(template, "AWS::DynamoDB::Table");
  const logGroups = Object.values(template.findResources("AWS::Logs::LogGroup"));
  return {
    stack: artifact.stackName,
    terminationProtection: artifact.terminationProtection ?? false,
    table: table.properties.TableName,
    deletionProtection: table.properties.DeletionProtectionEnabled,
    restorable: table.properties.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled,
    onDeletion: new Set(
      [table.resource, ...logGroups].flatMap((r) => [r.DeletionPolicy, r.UpdateReplacePolicy]),
    ),
    logDays: new Set(logGroups.map(({ Properties }) => Properties.RetentionInDays)),
    throttle: only(template, "AWS::ApiGatewayV2::Stage").properties.DefaultRouteSettings,
    cacheSeconds: only(template, "AWS::ApiGatewayV2::Authorizer").properties.AuthorizerResultTtlInSeconds,
  };
}

test("dev is deleted with its stack", () => {
  expect(readSettings(stages.dev)).toEqual({
    stack: "leads-and-conversations-dev",
    terminationProtection: false,
    table: "leads-and-conversations-dev",
    deletionProtection: false,
    restorable: false,
    onDeletion: new Set(["Delete"]),
    logDays: new Set([7]),
    throttle: { ThrottlingRateLimit: 100, ThrottlingBurstLimit: 200 },
    cacheSeconds: 60,
  });
});

test("prod keeps its data", () => {
  expect(readSettings(stages.prod)).toEqual({
    stack: "leads-and-conversations-prod",
    terminationProtection: true,
    table: "leads-and-conversations-prod",
    deletionProtection: true,
    restorable: true,
    onDeletion: new Set(["Retain"]),
    logDays: new Set([90]),
    throttle: { ThrottlingRateLimit: 5000, ThrottlingBurstLimit: 2500 },
    cacheSeconds: 60,
  });
});

test("dev can have point-in-time recovery", async () => {
  const changed = await synthesize("dev", { pointInTimeRecovery: "true" });
  expect(readSettings(changed)).toEqual({ ...readSettings(stages.dev), restorable: true });
});

test("Context values override each setting, as text or as their own type", async () => {
  const changed = await synthesize("prod", {
    removalPolicy: "destroy",
    deletionProtection: "false",
    pointInTimeRecovery: "true",
    throttleRate: "20",
    throttleBurst: 40,
    logRetentionDays: "30",
    authorizerCacheSeconds: "0",
  });
  expect(readSettings(changed)).toEqual({
    stack: "leads-and-conversations-prod",
    terminationProtection: false,
    table: "leads-and-conversations-prod",
    deletionProtection: false,
    restorable: true,
    onDeletion: new Set(["Delete"]),
    logDays: new Set([30]),
    throttle: { ThrottlingRateLimit: 20, ThrottlingBurstLimit: 40 },
    cacheSeconds: 0,
  });
});
