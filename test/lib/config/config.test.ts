import { globSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { createConfig, readConfig } from "../../../lib/config/config.ts";
import { defaults } from "../../../lib/config/settings.ts";
import { UserError } from "../../../lib/user-error.ts";
import { writeStageFiles } from "./stage-files.ts";

const root = join(import.meta.dirname, "../../..");

const certificate = "arn:aws:acm:eu-west-1:123456789012:certificate/8c5b0f9a-6f0e-4b3a-9d55-0f2a1c3d4e5f";

test("the shipped stages are valid; prod among them has a canary and archives its events for seven days, dev neither", () => {
  const files = globSync("*.json", { cwd: join(root, "stages"), exclude: ["stage.schema.json"] });
  const names = files.map((name) => basename(name, ".json"));
  for (const stage of names) expect(readConfig({ stage }).stage).toBe(stage);
  const [dev, prod] = ["dev", "prod"].map((stage) => readConfig({ stage }));
  expect([prod?.canary, prod?.eventArchiveDays]).toEqual([true, 7]);
  expect([dev?.canary, dev?.eventArchiveDays]).toEqual([false, undefined]);
});

test("the stage is dev when none is named", async () => {
  expect(readConfig({}, await writeStageFiles({ dev: {} })).stage).toBe("dev");
});

test("a stage whose file sets nothing has the documented defaults, and keeps its data", async () => {
  expect(readConfig({ stage: "empty" }, await writeStageFiles({ empty: {} }))).toEqual({
    ...defaults,
    stage: "empty",
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

/** Settings that a stage does not take over from the stage that it is like. */
const own = {
  domainName: "api.example.com",
  certificateArn: certificate,
  alarmsTo: "arn:aws:sns:eu-west-1:123456789012:alarms",
  canary: true,
  logErrorMessages: true,
};

test.each([
  ["its file", { stage: "staging" }, 20],
  ["the flag like", { stage: "pr-42", like: "prod" }, 900],
  ["the flag like, of a stage that is like another", { stage: "pr-42", like: "staging" }, 20],
])("a stage that is like another by %s takes over its settings, except those that belong to one stage alone", async (...args) => {
  const [, context, throttleRate] = args;
  const staging = { like: "prod", throttleRate: 20 };
  const config = readConfig(context, await writeStageFiles({ prod: { ...prod, ...own }, staging }));
  const without = { canary: false, logErrorMessages: false };
  expect(config).toMatchObject({ ...prod, ...without, throttleRate, stage: context.stage });
  for (const name of ["domainName", "certificateArn"]) expect(config).not.toHaveProperty(name);
  expect(config.alarmsTo).toBeUndefined();
});

test("settings that another CDK app passes as an object have the same defaults", async () => {
  const directory = await writeStageFiles({ eu: prod });
  expect(createConfig("eu", prod)).toEqual(readConfig({ stage: "eu" }, directory));
});

test("wrong settings that are passed as an object are rejected with one sentence", () => {
  const sentence = "The settings of the stage eu: domainName needs certificateArn.";
  const rejected = () => createConfig("eu", { domainName: "api.example.com" });
  expect(rejected).toThrow(new UserError(sentence));
  expect(() => createConfig("EU", {})).toThrow("The stage EU must have 1 to 21 lower-case letters");
});

test("a certificate and topics must be in the stage's region, if the stage has one", () => {
  const ticket = "arn:aws:sns:us-east-1:210987654321:alarms";
  const { domainName, certificateArn, alarmsTo } = own;
  for (const wrong of [{ alarmsTo: ticket }, { alarmsTo: { page: alarmsTo, ticket } }])
    expect(() => createConfig("eu", { ...prod, ...wrong })).toThrow(
      `The settings of the stage eu: ${ticket} is not in its region, eu-west-1.`,
    );
  const domain = { domainName, certificateArn };
  expect(() => createConfig("eu", { ...domain, region: "us-east-1" })).toThrow("is not in its region");
  expect(createConfig("eu", { ...domain, alarmsTo: ticket })).toMatchObject({ certificateArn });
});

type Rejected = [context: Readonly<Record<string, unknown>>, sentence: string];

test.each<Rejected>([
  [
    { stage: "pord" },
    "There is no stages/pord.json: write it, add -c like=dev for a stage without a file, or name one of the stages a, b, dev, prod.",
  ],
  [
    { stage: "pr-42", like: "../stages/dev" },
    'The flag like must be the name of a stage, such as -c like=dev, not "../stages/dev".',
  ],
  [{ protected: "no" }, 'The flag protected must be true or false, not "no".'],
  [
    { stage: "prod", like: "dev" },
    "The stage prod has a file, so `-c like` is not allowed: set `like` in stages/prod.json.",
  ],
  [{ stage: "a" }, "The `like` of these stages forms a circle: a, b, a."],
  [{ stage: "x", like: "b" }, "The `like` of these stages forms a circle: b, a, b."],
  ...["Prod", "-a", "a_b", "", "a".repeat(22)].map(
    (stage): Rejected => [
      { stage },
      `The stage ${stage} must have 1 to 21 lower-case letters, digits or '-', the first one a letter.`,
    ],
  ),
  [{ stage: "prod", alarmsTo: "x" }, "The setting alarmsTo is not a flag: put it into stages/prod.json."],
  ...["throtleRate", "constructor", "cdkthrottleRate"].map(
    (name): Rejected => [
      { [name]: 5 },
      `There is no flag ${name}: the flags are stage, like and protected, and docs/configuration.md lists the settings of stages/dev.json.`,
    ],
  ),
])("%j is rejected with a sentence", async (context, sentence) => {
  const stages = { dev: {}, prod: {}, a: { like: "b" }, b: { like: "a" } };
  const directory = await writeStageFiles(stages);
  expect(() => readConfig(context, directory)).toThrow(new UserError(sentence));
});
