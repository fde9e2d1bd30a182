import { expect, test } from "vitest";
import { type FunctionName, functionNames } from "../../../lib/bundling/bundle.ts";
import manifest from "../../../package.json" with { type: "json" };
import { synthesize } from "../../support/stack/synthesize.ts";

const { template, functions } = await synthesize("dev", {
  canary: true,
  channels: true,
  webhookConcurrency: 5,
});
const resources = template.findResources("AWS::Lambda::Function");
const logGroups = template.findResources("AWS::Logs::LogGroup");

/** Settings of functions that differ from those of the routes. */
const others: Partial<Record<FunctionName, object>> = {
  authorize: { Timeout: 5 },
  "maintain-counts": { Timeout: 60, MemorySize: 1769 },
  "audit-counts": { Timeout: 900 },
  "publish-events": { Timeout: 60 },
  "deliver-message": { Timeout: 30 },
  "receive-webhook": { Timeout: 120, ReservedConcurrentExecutions: 5 },
  canary: { Timeout: 180, MemorySize: 256 },
};

test("Every function is deployed once, with a log group and a role of its own, and no other", () => {
  expect([...functions.values()].sort()).toEqual([...functionNames].sort());
  const deployed = Object.values(resources).map(({ Properties }) => Properties);
  const owned = deployed.flatMap(({ LoggingConfig, Role }) => [
    LoggingConfig.LogGroup.Ref,
    Role["Fn::GetAtt"][0],
  ]);
  expect([deployed.length, new Set(owned).size]).toEqual([functions.size, 2 * functions.size]);
});

test.each([
  ...functions,
])("%s, which is %s, has the common settings and a retention of its log", (id, name) => {
  const { Code, Role, ...properties } = resources[id]?.Properties ?? {};
  const { LoggingConfig } = properties;
  expect(properties).toEqual({
    Runtime: "nodejs24.x",
    Architectures: ["arm64"],
    Handler: "index.handler",
    MemorySize: 1024,
    Timeout: 10,
    // Other variables need no check: a function of the local run does not start without those that its code reads.
    Environment: { Variables: expect.objectContaining({ RELEASE: `${manifest.version}+ab12cd3` }) },
    LoggingConfig: { LogFormat: "JSON", ApplicationLogLevel: "INFO", LogGroup: LoggingConfig.LogGroup },
    ...others[name],
  });
  expect(logGroups[LoggingConfig.LogGroup.Ref]?.Properties).toEqual({ RetentionInDays: 7 });
});

test("Without a rate limit, no function has its settings or permissions", async () => {
  const unlimited = (await synthesize("dev", { rateLimitRequests: 0 })).template;
  const text = JSON.stringify(unlimited.toJSON());
  expect(text).not.toContain("RATE");
  expect(JSON.stringify(template.toJSON())).toContain("RATE#*");
});

test("With logErrorMessages and tracing, each function logs the messages of errors and is traced, and its own role permits it", async () => {
  const { template: traced } = await synthesize("dev", { logErrorMessages: true, tracing: true });
  for (const { Properties } of Object.values(traced.findResources("AWS::Lambda::Function")))
    expect(Properties).toMatchObject({
      Environment: { Variables: { LOG_ERROR_MESSAGES: "true" } },
      TracingConfig: { Mode: "Active" },
    });
  const roles = Object.values(traced.findResources("AWS::IAM::Role"));
  const policies = roles.map(({ Properties }) => JSON.stringify(Properties.Policies));
  expect(policies.filter((text) => text.includes("xray:PutTraceSegments"))).toHaveLength(
    Object.keys(traced.findResources("AWS::Lambda::Function")).length,
  );
  traced.resourceCountIs("AWS::IAM::Policy", 0);
});
