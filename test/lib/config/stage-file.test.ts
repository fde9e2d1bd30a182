import { expect, test } from "vitest";
import { readStageFile } from "../../../lib/config/stage-file.ts";
import { UserError } from "../../../lib/errors.ts";
import { writeStageFiles } from "./stage-files.ts";

/** Reads a file of the stage `staging` with this text. */
async function read(text: string) {
  const directory = await writeStageFiles({ staging: text });
  return () => readStageFile(directory, "staging");
}

const file = expect.stringMatching(/^stages-\w+\/staging\.json$/);

/** The sentence about a file, after the file's name. */
async function sentence(text: string): Promise<string> {
  const reading = await read(text);
  expect(reading).toThrow(UserError);
  try {
    reading();
  } catch (error) {
    const [name, ...rest] = (error as UserError).message.split(/(?<=\.json)/);
    expect(name).toEqual(file);
    return rest.join("");
  }
  return "";
}

const alarms = "arn:aws:sns:eu-west-1:123456789012:alarms";
const certificate = "arn:aws:acm:eu-west-1:123456789012:certificate/8c5b0f9a-6f0e-4b3a-9d55-0f2a1c3d4e5f";
const vault = "arn:aws:backup:eu-west-1:210987654321:backup-vault:leads-and-conversations";
const most = { readUnitsPerSecond: 12_000, writeUnitsPerSecond: 4000 };

test.each<[string, ...unknown[]]>([
  ["like", "prod", "pr-42"],
  ["account", "123456789012"],
  ["region", "eu-central-1", "us-gov-west-1", "eusc-de-east-1"],
  ["trustedAccounts", [], ["123456789012"]],
  ["eventAccounts", [], Array(50).fill("123456789012")],
  ["tags", {}, { team: "sales", "cost:centre": "4711" }],
  ["removalPolicy", "destroy", "retain"],
  ["deletionProtection", true, false],
  ["throttleRate", 1, 100_000],
  ["throttleBurst", 1, 100_000],
  ["rateLimitRequests", 0, 100_000_000],
  ["rateLimitSeconds", 1, 3600],
  ["alarmsTo", "ops@example.com", alarms, "arn:aws-cn:sns:cn-north-1:123456789012:on_call-2"],
  ["alarmsTo", { wake: "ops@example.com", look: alarms }],
  ["deployment", "all-at-once", "canary"],
  ["runbookUrl", "https://wiki.example.com/operations?version=2"],
  ["errorsUrl", "https://docs.example.com/errors"],
  ["corsOrigins", [], ["https://app.example.com", "http://localhost:5173", "http://[::1]:3000"]],
  ["logRetentionDays", 1, 90, 3653],
  ["authorizerCacheSeconds", 0, 3600],
  ["reservedConcurrency", {}, { authorize: 100, "list-leads": 1 }],
  ["maxThroughput", most, { readUnitsPerSecond: 100, writeUnitsPerSecond: 100 }],
  ["onPurpose", [], ["account", "region", "alarmsTo", "monthlyBudget", "backup", "throttleBurst"]],
  ["backup", { keepDays: 1 }, { keepDays: 35, copyTo: vault, copyKeepDays: 36_500 }],
])("%s can be set", async (name, ...values) => {
  for (const value of values) {
    const settings = { $schema: "./stage.schema.json", [name]: value };
    expect((await read(JSON.stringify(settings)))()).toEqual(settings);
  }
});

const account = "an AWS account id of 12 digits in quotes";
const origin = "an origin such as https://app.example.com";
const text = "a text of 1 to 256 letters, digits, spaces or . : / = + @ _ -";
const retention = "a number of days that CloudWatch supports, such as 7, 30, 90 or 365";
const host = "a lowercase host name such as api.example.com";
const arn = "the ARN of an AWS Certificate Manager certificate";
const target =
  "an email address, the ARN of a standard SNS topic, or an object with one of them for wake and look each";
const url = "an https URL without a fragment";

test.each<[name: string, allowed: string, ...values: unknown[]]>([
  ["like", "the name of another stage", "Prod", "", "a/b", 1],
  ["account", account, 123456789012, "12345678901", ""],
  ["region", "an AWS region such as eu-central-1", "eu-central", "Frankfurt"],
  ["trustedAccounts", "a list of AWS account ids", "123456789012"],
  ["eventAccounts", "a list of at most 50 AWS account ids", "*", Array(51).fill("123456789012")],
  ["removalPolicy", "destroy or retain", "snapshot", null],
  ["deletionProtection", "true or false", "true", 1],
  ["throttleRate", "a whole number from 1 to 100000", 0, "5", 1.5, 100_001],
  ["rateLimitSeconds", "a whole number from 1 to 3600", 0, 3601],
  ["deployment", "all-at-once or canary", "linear", true],
  ["monthlyBudget", "a whole number from 1 to 999999999", 0],
  ["authorizerCacheSeconds", "a whole number from 0 to 3600", 3601],
  ["logRetentionDays", retention, 31, "7"],
  ["alarmsTo", target, "ops", "ops@example", "arn:aws:sns:eu-west-1:123:alarms", `${alarms}.fifo`, ""],
  ["alarmsTo", target, { wake: alarms }, { wake: alarms, look: "team" }],
  ["errorsUrl", url, "docs/errors.md", "https://example.com/errors#busy"],
  ["runbookUrl", url, "http://example.com/ops", "https://", "https://example.com/ops#top", "docs/ops.md"],
  ["corsOrigins", "a list of origins such as https://app.example.com", "https://app.example.com"],
  [
    ...(["domainName", host] as const),
    ...["localhost", "*.example.com", "API.example.com", "https://api.example.com", "api.example.com."],
    ...["-api.example.com", `${"a".repeat(64)}.example.com`, `${"a.".repeat(124)}example`],
  ],
  ["certificateArn", arn, "abc", `${certificate}/x`, certificate.replace(":acm:", ":iam:"), ""],
  ["maxThroughput", "an object with readUnitsPerSecond and writeUnitsPerSecond", 12_000],
  ["backup", "an object with keepDays, and with copyTo and copyKeepDays if it has copies", true, 35],
])("%s must be %s", async (name, allowed, ...values) => {
  // What the setting itself needs, so that only the value is wrong.
  const others = { domainName: "api.example.com", certificateArn: certificate, alarmsTo: "ops@example.com" };
  for (const value of values) {
    expect(await sentence(JSON.stringify({ ...others, [name]: value }))).toBe(
      `: ${name} must be ${allowed}, not ${JSON.stringify(value)}.`,
    );
  }
});

test.each<[settings: object, sentence: string]>([
  [{ trustedAccounts: ["1"] }, `trustedAccounts[0] must be ${account}, not "1"`],
  [{ eventAccounts: ["*"] }, `eventAccounts[0] must be ${account}, not "*"`],
  [{ tags: { team: "" } }, `tags.team must be ${text}, not ""`],
  [{ tags: { team: "a\nb" } }, `tags.team must be ${text}, not "a\\nb"`],
  [
    { tags: { "aws:x": "y" } },
    'tags must be an object with at most 50 tags, whose names have 1 to 128 letters, digits, spaces or . : / = + @ _ - and do not begin with aws:, not {"aws:x":"y"}',
  ],
  [
    { reservedConcurrency: { authorizer: 5 } },
    'reservedConcurrency must be an object with names of functions (list-leads, create-lead, list-conversations, send-message, authorize, maintain-counts, audit-counts, compose-events, canary), not {"authorizer":5}',
  ],
  [
    { reservedConcurrency: { authorize: 0 } },
    "reservedConcurrency.authorize must be a whole number from 1 to 10000, not 0",
  ],
  [{ maxThroughput: { readUnitsPerSecond: 12_000 } }, "maxThroughput needs writeUnitsPerSecond"],
  [
    { maxThroughput: { ...most, readUnits: 1 } },
    "there is no setting maxThroughput.readUnits; the settings are readUnitsPerSecond, writeUnitsPerSecond",
  ],
  [
    { maxThroughput: { ...most, writeUnitsPerSecond: 99 } },
    "maxThroughput.writeUnitsPerSecond must be a whole number from 100 to 10000000, not 99",
  ],
  [
    { onPurpose: ["canary"] },
    'onPurpose[0] must be account or region or alarmsTo or monthlyBudget or backup or throttleBurst, not "canary"',
  ],
  [{ backup: { keepDays: 0 } }, "backup.keepDays must be a whole number from 1 to 36500, not 0"],
  [{ backup: { keepDays: 7, copyKeepDays: 35 } }, "backup.copyKeepDays needs backup.copyTo"],
  [
    { backup: { keepDays: 7, copyTo: "vault" } },
    'backup.copyTo must be the ARN of a backup vault, not "vault"',
  ],
  [
    { backup: { keepDays: 7, days: 7 } },
    "there is no setting backup.days; the settings are keepDays, copyTo, copyKeepDays",
  ],
  [{ domainName: "api.example.com" }, "domainName needs certificateArn"],
  [{ certificateArn: certificate }, "certificateArn needs domainName"],
  [{ disableExecuteApiEndpoint: true }, "disableExecuteApiEndpoint needs domainName"],
  [{ monthlyBudget: 250 }, "monthlyBudget needs alarmsTo"],
  ...[
    ...["*", "", "app.example.com", "https://*.example.com", "https://app.example.com/"],
    ...["https://app.example.com:443", "https://App.example.com", "ftp://app.example.com"],
  ].map((value): [object, string] => [
    { corsOrigins: ["https://example.com", value] },
    `corsOrigins[1] must be ${origin}, not ${JSON.stringify(value)}`,
  ]),
])("%j is rejected with a sentence", async (settings, expected) => {
  expect(await sentence(JSON.stringify(settings))).toBe(`: ${expected}.`);
});

const known =
  "$schema, like, account, region, trustedAccounts, tags, removalPolicy, deletionProtection, pointInTimeRecovery, throttleRate, throttleBurst, rateLimitRequests, rateLimitSeconds, deployment, canary, alarmsTo, monthlyBudget, runbookUrl, errorsUrl, eventAccounts, corsOrigins, domainName, certificateArn, disableExecuteApiEndpoint, logRetentionDays, authorizerCacheSeconds, reservedConcurrency, maxThroughput, backup, onPurpose";

test.each([
  ["stage", "the settings are"],
  ["authorizerReservedConcurrency", "the settings are"],
  ["constructor", "the settings are"],
  ["__proto__", "the settings are"],
  ["throtleRate", "did you mean throttleRate? The settings are"],
  ["alarms_to", "did you mean alarmsTo? The settings are"],
])("the unknown setting %s is rejected with the nearest one and a list of all", async (name, hint) => {
  expect(await sentence(`{ "${name}": 5 }`)).toBe(`: there is no setting ${name}; ${hint} ${known}.`);
});

test.each([
  ['{ "throttleRate": 5, "throttleRate": 500 }', "throttleRate"],
  ['{ "throttleRate": 5, "thr\\u006fttleRate": 5 }', "throttleRate"],
  ['{ "tags": { "team": "a", "owner": "b", "team": "c" } }', "tags[team]"],
])("%s, which has a setting twice, is rejected with a sentence", async (json, name) => {
  expect(await sentence(json)).toBe(`: ${name} is there more than once: keep one.`);
});

test("a file that is no JSON object is rejected with a sentence", async () => {
  expect(await sentence("[]")).toBe(": it must be a JSON object, not [].");
  expect(await sentence('{ "like": "dev", }')).toMatch(/^ is not valid JSON: .*\.$/);
});
