import { Ajv } from "ajv";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import { expect, test } from "vitest";
import { readSettings } from "../../../lib/config/read-stage-file.ts";
import { defaults, stageSchema } from "../../../lib/config/settings.ts";
import { UserError } from "../../../lib/user-error.ts";
import { writeStageFiles } from "./stage-files.ts";

/** Reads a file of the stage `staging` with this text. */
const read = async (text: string) => readSettings(await writeStageFiles({ staging: text }), "staging");

/** The sentence about a file, after the file's name. */
async function sentence(text: string): Promise<string> {
  const error = await read(text).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(UserError);
  return (error as UserError).message.replace(/^stages-\w+\/staging\.json/, "");
}

test("the schema is valid JSON Schema, which the check of a stage's file assumes", () => {
  const ajv = new Ajv();
  expect(ajv.validateSchema(stageSchema), ajv.errorsText()).toBe(true);
});

test("the retentions are those that CloudWatch supports", () => {
  const supported = Object.values(RetentionDays).filter((days) => Number(days) < RetentionDays.INFINITE);
  expect([...stageSchema.properties.logRetentionDays.enum].sort()).toEqual(supported.sort());
});

const alarms = "arn:aws:sns:eu-west-1:123456789012:alarms";
const certificate = "arn:aws:acm:eu-west-1:123456789012:certificate/8c5b0f9a-6f0e-4b3a-9d55-0f2a1c3d4e5f";

test.each<[string, ...unknown[]]>([
  ["account", "123456789012"],
  ["region", "eu-central-1", "us-gov-west-1", "eusc-de-east-1"],
  ["eventArchiveDays", 1, 14],
  ["rateLimitRequests", 0, 100_000_000],
  ["alarmsTo", alarms, "arn:aws-cn:sns:cn-north-1:123456789012:on_call-2"],
  ["alarmsTo", { page: `${alarms}-1`, ticket: alarms }],
  ["runbookUrl", "https://wiki.example.com/operations?version=2"],
  ["corsOrigins", [], ["https://app.example.com", "http://localhost:5173", "http://[::1]:3000"]],
  ["logRetentionDays", 1, 90, 3653],
])("%s can be set", async (name, ...values) => {
  for (const value of values) {
    const settings = JSON.stringify({ $schema: "./stage.schema.json", [name]: value });
    expect(await read(settings)).toEqual({ ...defaults, [name]: value });
  }
});

test.each<[name: keyof typeof stageSchema.properties, ...values: unknown[]]>([
  ["like", "Prod", "", "a/b", 1],
  ["account", 123456789012, "12345678901", ""],
  ["region", "eu-central", "Frankfurt"],
  ["eventArchiveDays", 0, 15, 1.5, "7"],
  ["canary", "true", 1],
  ["deployment", "linear", true],
  ["logRetentionDays", 31, "7"],
  ["alarmsTo", "ops", "ops@example.com", "arn:aws:sns:eu-west-1:123:alarms", `${alarms}.fifo`, ""],
  ["alarmsTo", { page: alarms }, { page: alarms, ticket: "team" }],
  ["errorsUrl", "docs/errors.md", "https://example.com/errors#busy"],
  ["runbookUrl", "http://example.com/ops", "https://", "https://example.com/ops#top", "docs/ops.md"],
  ["corsOrigins", "https://app.example.com"],
  [
    "domainName",
    ...["localhost", "*.example.com", "API.example.com", "https://api.example.com", "api.example.com."],
    ...["-api.example.com", `${"a".repeat(64)}.example.com`, `${"a.".repeat(124)}example`],
  ],
  ["certificateArn", "abc", `${certificate}/x`, certificate.replace(":acm:", ":iam:"), ""],
])("%s must be what its schema says", async (name, ...values) => {
  const { errorMessage } = stageSchema.properties[name] as { errorMessage: string };
  // Settings that need each other, so that only the tested value is wrong.
  const others = { domainName: "api.example.com", certificateArn: certificate };
  for (const value of values)
    expect(await sentence(JSON.stringify({ ...others, [name]: value }))).toBe(
      `: ${name} must be ${errorMessage}, not ${JSON.stringify(value)}.`,
    );
});

test.each<[settings: object, sentence: string]>([
  [{ domainName: "api.example.com" }, "domainName needs certificateArn"],
  [{ certificateArn: certificate }, "certificateArn needs domainName"],
  ...[
    ...["*", "", "app.example.com", "https://*.example.com", "https://app.example.com/"],
    ...["https://app.example.com:443", "https://App.example.com", "ftp://app.example.com"],
  ].map((value): [object, string] => [
    { corsOrigins: ["https://example.com", value] },
    `corsOrigins[1] must be an origin such as https://app.example.com, not ${JSON.stringify(value)}`,
  ]),
])("%j is rejected with a sentence", async (settings, expected) => {
  expect(await sentence(JSON.stringify(settings))).toBe(`: ${expected}.`);
});

const known = Object.keys(stageSchema.properties).join(", ");

test.each([
  "stage",
  "constructor",
  "__proto__",
])("the unknown setting %s is rejected with a list of all settings", async (name) => {
  expect(await sentence(`{ "${name}": 5 }`)).toBe(
    `: there is no setting ${name}; the settings are ${known}.`,
  );
});

test("a file that is no JSON object is rejected with a sentence", async () => {
  expect(await sentence("[]")).toBe(": it must be a JSON object, not [].");
  for (const json of ['{ "like": "dev", }', '{ "\\x": 1 }'])
    expect(await sentence(json)).toMatch(/^ is not valid JSON: .*\.$/);
});

test.each([
  ['{ "throttleRate": 5, "throttleRate": 500 }', "throttleRate"],
  ['{ "throttleRate": 5, "thr\\u006fttleRate": 5 }', "throttleRate"],
  ['{ "alarmsTo": { "page": "a", "ticket": "b", "page": "c" } }', "alarmsTo[page]"],
])("%s, which has a setting twice, is rejected with a sentence", async (json, name) => {
  expect(await sentence(json)).toBe(`: ${name} occurs more than once: keep one.`);
});
