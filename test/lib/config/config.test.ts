import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { createApp } from "../../../lib/app.ts";
import { readConfig } from "../../../lib/config/config.ts";
import { UserError } from "../../../lib/errors.ts";

const root = join(import.meta.dirname, "../../..");

const alarms = "arn:aws:sns:eu-west-1:123456789012:alarms";

const certificate = "arn:aws:acm:eu-west-1:123456789012:certificate/8c5b0f9a-6f0e-4b3a-9d55-0f2a1c3d4e5f";

type Invalid = [name: string, value: unknown, allowed: string];

const invalid: Invalid[] = [
  ["stage", "production", "dev or prod"],
  ["removalPolicy", "snapshot", "destroy or retain"],
  ["deletionProtection", "yes", "true or false"],
  ["deletionProtection", "constructor", "true or false"],
  ["deletionProtection", "__proto__", "true or false"],
  ["pointInTimeRecovery", "1", "true or false"],
  ["throttleRate", "0", "a whole number from 1 to 100000"],
  ["throttleRate", "1e3", "a whole number from 1 to 100000"],
  ["throttleBurst", "12.5", "a whole number from 1 to 100000"],
  ["rateLimitRequests", -1, "a whole number from 0 to 100000000"],
  ["rateLimitSeconds", 0, "a whole number from 1 to 3600"],
  ["throttleBurst", 100_001, "a whole number from 1 to 100000"],
  ["authorizerCacheSeconds", "3601", "a whole number from 0 to 3600"],
  ["monthlyBudget", "0", "a whole number from 1 to 999999999"],
  ["authorizerCacheSeconds", "", "a whole number from 0 to 3600"],
  ["authorizerReservedConcurrency", "-1", "a whole number from 0 to 10000"],
  ...["ops", "ops@example", "arn:aws:sns:eu-west-1:123:alarms", `${alarms}.fifo`, ""].map(
    (value): Invalid => ["alarmsTo", value, "an email address or the ARN of a standard SNS topic"],
  ),
  ...["http://example.com/ops", "https://", "https://example.com/ops#top", "docs/ops.md"].map(
    (value): Invalid => ["runbookUrl", value, "an https URL without a fragment"],
  ),
  ...[
    "*",
    "",
    "app.example.com",
    "https://*.example.com",
    "https://app.example.com/",
    "https://app.example.com:443",
    "https://App.example.com",
    "ftp://app.example.com",
    "https://app.example.com,",
    "https://app.example.com, https://example.com",
  ].map(
    (value): Invalid => [
      "corsOrigins",
      value,
      "origins such as https://app.example.com, separated by commas",
    ],
  ),
  ...[
    "localhost",
    "*.example.com",
    "API.example.com",
    "https://api.example.com",
    "api.example.com.",
    "-api.example.com",
    `${"a".repeat(64)}.example.com`,
    `${"a.".repeat(124)}example`,
  ].map((value): Invalid => ["domainName", value, "a lowercase host name such as api.example.com"]),
  ...["abc", `${certificate}/x`, certificate.replace(":acm:", ":iam:"), ""].map(
    (value): Invalid => ["certificateArn", value, "the ARN of an AWS Certificate Manager certificate"],
  ),
];

test.each(invalid)("%s=%s is rejected with a sentence", (name, value, allowed) => {
  expect(() => readConfig({ [name]: value })).toThrow(
    new UserError(`The configuration value ${name}=${value} must be ${allowed}.`),
  );
});

test("An unsupported log retention is rejected with a list of the supported ones", () => {
  expect(() => readConfig({ logRetentionDays: "31" })).toThrow(
    /^The configuration value logRetentionDays=31 must be a retention that CloudWatch supports \(1, 3, 5, 7, .*\)\.$/,
  );
});

test("The stage is dev when none is given", () => {
  expect(readConfig({}).stage).toBe("dev");
});

test.each([
  "throtleRate",
  "Stage",
  "constructor",
  "throttle-rate",
])("The unknown name %s is rejected with a list of the known ones", (name) => {
  expect(() => readConfig({ [name]: "5" })).toThrow(
    new UserError(
      `Unknown configuration value ${name}. The configuration values are stage, removalPolicy, deletionProtection, pointInTimeRecovery, throttleRate, throttleBurst, rateLimitRequests, rateLimitSeconds, logRetentionDays, authorizerCacheSeconds, authorizerReservedConcurrency, alarmsTo, monthlyBudget, runbookUrl, corsOrigins, domainName, certificateArn.`,
    ),
  );
});

test("Alarms go to an email address or a topic, by default to nobody", () => {
  expect(readConfig({}).alarmsTo).toBeUndefined();
  expect(readConfig({ alarmsTo: "ops@example.com" }).alarmsTo).toEqual({ email: "ops@example.com" });
  expect(readConfig({ alarmsTo: alarms }).alarmsTo).toEqual({ topicArn: alarms });
  const inChina = "arn:aws-cn:sns:cn-north-1:123456789012:on_call-2";
  expect(readConfig({ alarmsTo: inChina }).alarmsTo).toEqual({ topicArn: inChina });
});

test("CORS is off by default and takes a list of origins", () => {
  expect(readConfig({}).corsOrigins).toEqual([]);
  expect(readConfig({ corsOrigins: "https://app.example.com,http://localhost:5173" }).corsOrigins).toEqual([
    "https://app.example.com",
    "http://localhost:5173",
  ]);
});

test("A domain name and its certificate must be given together", () => {
  const domain = { domainName: "api.example.com", certificateArn: certificate };
  expect(readConfig(domain)).toMatchObject(domain);
  expect(readConfig({})).toMatchObject({ domainName: undefined, certificateArn: undefined });
  for (const [name, value] of Object.entries(domain)) {
    expect(() => readConfig({ [name]: value })).toThrow(
      new UserError("The configuration values domainName and certificateArn must be given together."),
    );
  }
});

test("The CDK's own context values are accepted", () => {
  const names = ["@aws-cdk/core:target-partitions", "aws:cdk:bundling-stacks", "acknowledged-issue-numbers"];
  expect(readConfig(Object.fromEntries(names.map((name) => [name, true]))).stage).toBe("dev");
});

test("The app rejects an invalid value before it bundles anything", async () => {
  await expect(createApp({ context: { throttleRate: "fast" } })).rejects.toThrow(UserError);
});

// Names are checked before values, so the second case also shows that every name that the command itself puts into the
// context is accepted.
test.each([
  ["throtleRate=5", /^Unknown configuration value throtleRate\. The configuration values are stage, .*\.$/m],
  ["stage=test", /^The configuration value stage=test must be dev or prod\.$/m],
])(
  "The cdk command reports %s in a sentence, without a stack trace",
  async (setting, sentence) => {
    const bin = join(root, "node_modules/.bin");
    const output = await mkdtemp(join(tmpdir(), "stack-"));
    onTestFinished(() => rm(output, { recursive: true }));
    const failure = await promisify(execFile)(
      join(bin, "cdk"),
      ["synth", "--quiet", "--output", output, "-c", setting],
      { cwd: root, env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` } },
    ).then(
      () => undefined,
      ({ code, stderr }) => ({ code, stderr }),
    );
    expect(failure).toEqual({ code: 1, stderr: expect.stringMatching(sentence) });
    expect(failure?.stderr).not.toMatch(/^\s+at /m);
  },
  30_000,
);
