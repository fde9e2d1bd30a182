import { readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { createConfig, readConfig } from "../../../lib/config/config.ts";
import { projectStages, readSettings } from "../../../lib/config/read-stage-file.ts";
import { defaults, stageSchema } from "../../../lib/config/settings.ts";
import { UserError } from "../../../lib/user-error.ts";
import { temporaryDirectory } from "../../support/stack/temporary-directory.ts";

/** Writes the files of stages, for one test. @param files their contents by the names of the stages @returns their directory */
async function writeStageFiles(files: Readonly<Record<string, object | string>>): Promise<string> {
  const directory = await temporaryDirectory("stages-");
  for (const [name, content] of Object.entries(files)) {
    const text = typeof content === "string" ? content : JSON.stringify(content);
    await writeFile(join(directory, `${name}.json`), text);
  }
  return directory;
}

const certificate = "arn:aws:acm:eu-west-1:123456789012:certificate/8c5b0f9a-6f0e-4b3a-9d55-0f2a1c3d4e5f";

test("the shipped stages are valid; prod among them has a canary and archives its events for seven days, dev neither", () => {
  const files = readdirSync(projectStages).filter((name) => name !== "stage.schema.json");
  for (const file of files) expect(`${readConfig({ stage: basename(file, ".json") }).stage}.json`).toBe(file);
  const [dev, prod] = ["dev", "prod"].map((stage) => readConfig({ stage }));
  expect([prod?.canary, prod?.eventArchiveDays]).toEqual([true, 7]);
  expect([dev?.canary, dev?.eventArchiveDays]).toEqual([false, undefined]);
});

test("the stage is dev when none is named; if its file sets nothing, it has the defaults and keeps its data", async () => {
  expect(readConfig({}, await writeStageFiles({ dev: {} }))).toEqual({
    ...defaults,
    stage: "dev",
    release: expect.stringMatching(/^\d+\.\d+\.\d+/),
    codeRelease: expect.stringMatching(/^\d+\.\d+\.\d+/),
    removalPolicy: "retain-on-update-or-delete",
    isProtected: true,
    alarmsTo: undefined,
  });
});

const prod = {
  account: "123456789012",
  region: "eu-west-1",
  throttleRate: 900,
  throttleBurst: 1450,
};

const topic = "arn:aws:sns:eu-west-1:123456789012:alarms";

/** Settings that a stage does not take over from the stage that it is like. */
const own = {
  domainName: "api.example.com",
  certificateArn: certificate,
  alarmsTo: { page: topic, ticket: topic },
  canary: true,
  logErrorMessages: true,
};

test("a stage that is like another takes over its settings, except those that belong to one stage alone", async () => {
  const directory = await writeStageFiles({ prod: { ...prod, ...own } });
  const config = readConfig({ stage: "pr-42", like: "prod" }, directory);
  const without = { canary: false, logErrorMessages: false };
  expect(config).toMatchObject({ ...prod, ...without, stage: "pr-42" });
  for (const name of ["domainName", "certificateArn"]) expect(config).not.toHaveProperty(name);
  expect(config.alarmsTo).toBeUndefined();
});

test("wrong settings that are passed as an object are rejected with one sentence", () => {
  const sentence = "The settings of the stage eu: domainName needs certificateArn.";
  const rejected = () => createConfig("eu", { domainName: "api.example.com" });
  expect(rejected).toThrow(new UserError(sentence));
  expect(() => createConfig("EU", {})).toThrow("The stage EU must have 1 to 21 lower-case letters");
});

type Rejected = [context: Readonly<Record<string, unknown>>, sentence: string];

test.each<Rejected>([
  [
    { stage: "pord" },
    "There is no stages/pord.json: write it, or add -c like=dev for a stage without a file.",
  ],
  [
    { stage: "pr-42", like: "../stages/dev" },
    "There is no stages/../stages/dev.json: write it, or add -c like=dev for a stage without a file.",
  ],
  [
    { stage: "prod", like: "dev" },
    "The stage prod has a file, so `-c like` is not allowed: change stages/prod.json.",
  ],
  ...["Prod", "-a", "a_b", "", "a".repeat(22)].map(
    (stage): Rejected => [
      { stage },
      `The stage ${stage} must have 1 to 21 lower-case letters, digits or '-', the first one a letter.`,
    ],
  ),
  ...["throttleRate", "constructor", "cdkthrottleRate"].map(
    (name): Rejected => [
      { [name]: 5 },
      `There is no flag ${name}: the flags are stage, like and protected. Settings are in stages/dev.json.`,
    ],
  ),
])("%j is rejected with a sentence", async (context, sentence) => {
  const directory = await writeStageFiles({ dev: {}, prod: {} });
  expect(() => readConfig(context, directory)).toThrow(new UserError(sentence));
});

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

test.each<[string, ...unknown[]]>([
  ["account", "123456789012"],
  ["region", "eu-central-1", "us-gov-west-1", "eusc-de-east-1"],
  ["eventArchiveDays", 1, 14],
  ["rateLimitRequests", 0, 100_000_000],
  ["alarmsTo", { page: topic, ticket: "arn:aws-cn:sns:cn-north-1:123456789012:on_call-2" }],
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
  ["account", 123456789012, "12345678901", ""],
  ["region", "eu-central", "Frankfurt"],
  ["eventArchiveDays", 0, 15, 1.5, "7"],
  ["canary", "true", 1],
  ["deployment", "linear", true],
  ["logRetentionDays", 0, 3654, "7"],
  ["alarmsTo", topic],
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

const known = Object.keys(stageSchema.properties).join(", ");

test.each<[text: string, sentence: unknown]>([
  ['{ "domainName": "api.example.com" }', ": domainName needs certificateArn."],
  [`{ "certificateArn": "${certificate}" }`, ": certificateArn needs domainName."],
  ...[
    ...["*", "", "app.example.com", "https://*.example.com", "https://app.example.com/"],
    ...["https://app.example.com:443", "https://App.example.com", "ftp://app.example.com"],
  ].map((value): [string, string] => [
    JSON.stringify({ corsOrigins: ["https://example.com", value] }),
    `: corsOrigins.1 must be an origin such as https://app.example.com, not ${JSON.stringify(value)}.`,
  ]),
  ...["stage", "constructor", "__proto__"].map((name): [string, string] => [
    `{ "${name}": 5 }`,
    `: there is no setting ${name}; the settings are ${known}.`,
  ]),
  ...["ops", "ops@example.com", "arn:aws:sns:eu-west-1:123:alarms", `${topic}.fifo`, ""].map(
    (ticket): [string, string] => [
      JSON.stringify({ alarmsTo: { page: topic, ticket } }),
      `: alarmsTo.ticket must be the ARN of a standard SNS topic, not "${ticket}".`,
    ],
  ),
  [`{ "alarmsTo": { "page": "${topic}" } }`, ": alarmsTo needs ticket."],
  ["[]", ": it must be a JSON object, not []."],
  ['{ "account": "dev", }', expect.stringMatching(/^ is not valid JSON: .*\.$/)],
  ['{ "\\x": 1 }', expect.stringMatching(/^ is not valid JSON: .*\.$/)],
  ['{ "throttleRate": 5, "throttleRate": 500 }', ": throttleRate occurs more than once: keep one."],
  ['{ "throttleRate": 5, "thr\\u006fttleRate": 5 }', ": throttleRate occurs more than once: keep one."],
  [
    '{ "alarmsTo": { "page": "a", "ticket": "b", "page": "c" } }',
    ": alarmsTo[page] occurs more than once: keep one.",
  ],
])("the file %s is rejected with a sentence", async (text, expected) => {
  expect(await sentence(text)).toEqual(expected);
});
