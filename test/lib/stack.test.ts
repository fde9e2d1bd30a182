import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { expect, onTestFinished, test } from "vitest";
import { createConfig } from "../../lib/config/config.ts";
import { ServiceStack } from "../../lib/stack.ts";
import { only, synthesize } from "../support/synthesize.ts";
import { withEveryAlarm } from "./monitoring/support/alarms.ts";

const root = join(import.meta.dirname, "../..");
const prod = await synthesize("prod");

test("in an app without this project's feature flags, the stack is the same", () => {
  const app = new App();
  const config = createConfig("prod", { canary: true });
  const stack = new ServiceStack(app, { config, bundles: join(prod.app.outdir, "../bundles") });
  expect(Template.fromStack(stack).toJSON()).toEqual(prod.template.toJSON());
});

test("the names, logical ids and outputs that docs/compatibility.md promises are these", () => {
  const { template } = prod;
  const [table, bus] = [only(template, "AWS::DynamoDB::Table"), only(template, "AWS::Events::EventBus")];
  expect([table.id, bus.id]).toEqual(["TableCD117FA1", "EventsBus45DE4339"]);
  expect([table.properties.TableName, bus.properties.Name]).toEqual(
    Array(2).fill("leads-and-conversations-prod"),
  );
  expect(Object.keys(template.findOutputs("*"))).toEqual(
    expect.arrayContaining(["ApiUrl", "TableName", "EventBusName"]),
  );
});

/** Settings with which the stack has every resource that it can have. */
const everything = {
  ...withEveryAlarm,
  ...{ alarmsTo: "ops@example.com", monthlyBudget: 250, backup: { keepDays: 7 } },
  corsOrigins: ["https://app.example.com"],
  warmThroughput: { table: { readUnitsPerSecond: 12_000, writeUnitsPerSecond: 4000 } },
  reservedConcurrency: { authorize: 100 },
};

/** The properties of each type of resource. The tests of the constructs say which values they have. */
const properties: Readonly<Record<string, string>> = {
  "AWS::ApiGatewayV2::Api": "CorsConfiguration Name ProtocolType",
  "AWS::ApiGatewayV2::ApiMapping": "ApiId DomainName Stage",
  "AWS::ApiGatewayV2::Authorizer":
    "ApiId AuthorizerPayloadFormatVersion AuthorizerResultTtlInSeconds AuthorizerType AuthorizerUri EnableSimpleResponses IdentitySource Name",
  "AWS::ApiGatewayV2::DomainName": "DomainName DomainNameConfigurations",
  "AWS::ApiGatewayV2::Integration": "ApiId IntegrationType IntegrationUri PayloadFormatVersion",
  "AWS::ApiGatewayV2::Route": "ApiId AuthorizationType AuthorizerId RouteKey Target",
  "AWS::ApiGatewayV2::Stage": "AccessLogSettings ApiId AutoDeploy DefaultRouteSettings StageName",
  "AWS::Backup::BackupPlan": "BackupPlan",
  "AWS::Backup::BackupSelection": "BackupPlanId BackupSelection",
  "AWS::Backup::BackupVault": "BackupVaultName",
  "AWS::Budgets::Budget": "Budget NotificationsWithSubscribers",
  "AWS::CloudWatch::Alarm":
    "AlarmActions AlarmDescription AlarmName ComparisonOperator DatapointsToAlarm Dimensions EvaluationPeriods MetricName Metrics Namespace OKActions Period Statistic Threshold TreatMissingData",
  "AWS::CloudWatch::Dashboard": "DashboardBody DashboardName",
  "AWS::CodeDeploy::Application": "ApplicationName ComputePlatform",
  "AWS::CodeDeploy::DeploymentGroup":
    "AlarmConfiguration ApplicationName AutoRollbackConfiguration DeploymentConfigName DeploymentStyle ServiceRoleArn",
  "AWS::DynamoDB::Table":
    "AttributeDefinitions BillingMode DeletionProtectionEnabled GlobalSecondaryIndexes KeySchema PointInTimeRecoverySpecification SSESpecification StreamSpecification TableName TimeToLiveSpecification WarmThroughput",
  "AWS::Events::EventBus": "Description Name",
  "AWS::IAM::Policy": "PolicyDocument PolicyName Roles",
  "AWS::IAM::Role": "AssumeRolePolicyDocument ManagedPolicyArns Policies",
  "AWS::KMS::Key": "Description EnableKeyRotation KeyPolicy",
  "AWS::Lambda::Alias": "FunctionName FunctionVersion Name",
  "AWS::Lambda::EventSourceMapping":
    "BatchSize BisectBatchOnFunctionError DestinationConfig EventSourceArn FilterCriteria FunctionName FunctionResponseTypes MaximumBatchingWindowInSeconds MaximumRecordAgeInSeconds MaximumRetryAttempts MetricsConfig ParallelizationFactor StartingPosition",
  "AWS::Lambda::Function":
    "Architectures Code Environment Handler LoggingConfig MemorySize ReservedConcurrentExecutions Role Runtime Timeout TracingConfig",
  "AWS::Lambda::Permission": "Action FunctionName Principal SourceArn",
  "AWS::Lambda::Version": "FunctionName",
  "AWS::Logs::LogGroup": "LogGroupName RetentionInDays",
  "AWS::Logs::MetricFilter": "FilterPattern LogGroupName MetricTransformations",
  "AWS::Pipes::Pipe":
    "Enrichment LogConfiguration Name RoleArn Source SourceParameters Target TargetParameters",
  "AWS::SNS::Subscription": "Endpoint Protocol TopicArn",
  "AWS::SNS::Topic": "KmsMasterKeyId",
  "AWS::SNS::TopicPolicy": "PolicyDocument Topics",
  "AWS::SQS::Queue": "MessageRetentionPeriod",
  "AWS::SQS::QueuePolicy": "PolicyDocument Queues",
  "AWS::Scheduler::Schedule": "Description FlexibleTimeWindow ScheduleExpression Target",
};

test("with all settings, the resources have these properties, and a new one needs a test of its value", async () => {
  const { template } = await synthesize("prod", everything);
  const found = new Map<string, Set<string>>();
  for (const { Type, Properties } of Object.values<{ Type: string; Properties: object }>(
    template.toJSON().Resources,
  ))
    found.set(Type, new Set([...(found.get(Type) ?? []), ...Object.keys(Properties)]));
  expect(Object.fromEntries([...found].map(([type, names]) => [type, [...names].sort().join(" ")]))).toEqual(
    properties,
  );
});

test("the outputs have what the runbook and the documents read", async () => {
  const { template } = await synthesize("prod", withEveryAlarm);
  const outputs = Object.keys(template.findOutputs("*"));
  const pages = ["operations", "deploying", "delivery"].map((page) =>
    readFile(join(root, "docs", `${page}.md`), "utf8"),
  );
  const text = (await Promise.all(pages)).join("\n");
  const read = [...text.matchAll(/\$\(output (\w+)\)/g)].map(([, name = ""]) => name);
  expect(read.length).toBeGreaterThan(0);
  expect(read.filter((name) => !outputs.includes(name))).toEqual([]);
  expect(outputs.filter((name) => !text.includes(`\`${name}\``) && !read.includes(name))).toEqual([]);
});

test("the outputs name every function and its log group", () => {
  const { template, functions } = prod;
  const value = (name: string) => JSON.stringify(template.findOutputs(name)[name]?.Value);
  const [names, groups] = [value("FunctionNames"), value("FunctionLogGroups")];
  expect(functions.size).toBe(9);
  for (const [id, name] of functions) {
    expect(names).toContain(JSON.stringify(`"${name}":"`).slice(1, -1));
    expect(names).toContain(`{"Ref":"${id}"}`);
    const { LogGroup } = template.toJSON().Resources[id].Properties.LoggingConfig;
    expect(groups).toContain(JSON.stringify(LogGroup));
  }
});

test("the example synthesizes two cells with resources of its own", async () => {
  const outdir = await mkdtemp(join(tmpdir(), "cells-"));
  onTestFinished(() => rm(outdir, { recursive: true }));
  const env = { ...process.env, CDK_OUTDIR: outdir };
  await promisify(execFile)(process.execPath, ["app.ts"], {
    cwd: join(root, "docs/delivery/two-cells"),
    env,
  });
  const read = async (file: string) => JSON.parse(await readFile(join(outdir, file), "utf8"));
  const { artifacts } = await read("manifest.json");
  for (const [cell, environment] of [
    ["eu", "aws://111111111111/eu-central-1"],
    ["us", "aws://222222222222/us-east-1"],
  ] as const) {
    const name = `leads-and-conversations-${cell}`;
    expect(artifacts[name].environment).toBe(environment);
    expect(artifacts[`connector-${cell}`].environment).toBe(environment);
    const service = Template.fromJSON(await read(`${name}.template.json`));
    service.hasResourceProperties("AWS::DynamoDB::Table", { TableName: name });
    service.resourceCountIs("AWS::ApiGatewayV2::Route", 4);
    // The logical ids of a stage do not depend on the app.
    expect(Object.keys(service.toJSON().Resources)).toEqual(
      expect.arrayContaining([only(prod.template, "AWS::DynamoDB::Table").id]),
    );
    const connector = Template.fromJSON(await read(`connector-${cell}.template.json`));
    const bus = only(connector, "AWS::Events::Rule").properties.EventBusName["Fn::ImportValue"];
    const { Value } =
      Object.values(service.findOutputs("*")).find(({ Export }) => Export?.Name === bus) ?? {};
    expect(Value).toEqual({ Ref: only(service, "AWS::Events::EventBus").id });
    expect(connector.findOutputs("ServiceUrl")).not.toEqual({});
  }
});
