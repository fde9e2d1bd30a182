import { join } from "node:path";
import { expect, test } from "vitest";
import { readConfig } from "../../../lib/config/config.ts";
import { findOpenQuestions } from "../../../lib/config/open-questions.ts";
import type { TestSettings } from "../../support/stage-files.ts";
import { writeStages } from "../../support/stage-files.ts";
import { createDirectory, createTestApp, synthesizeApp } from "../../support/synthesize.ts";

const shipped = join(import.meta.dirname, "../../../stages");
const questions = ["account", "region", "alarmsTo", "monthlyBudget", "backup", "throttleBurst"];

/** The warnings of a synthesis, as the CDK prints them. */
async function warnings(settings: TestSettings, { stage = "prod", checked = true } = {}) {
  const app = await createTestApp(stage, settings, checked);
  const { artifact } = await synthesizeApp(app, stage, false);
  return artifact.messages.map(({ level, entry }) => `${level} ${entry.data}`);
}

test("the shipped prod leaves everything open, and dev nothing, because its data may be lost", () => {
  const found = findOpenQuestions(readConfig({ stage: "prod" }), shipped);
  expect(found.map(([name]) => name)).toEqual(questions);
  for (const [name, warning] of found) {
    expect(warning).toMatch(/^stages\/prod\.json(?::\d+)?: /);
    expect(warning).toContain(`add "${name}" to "onPurpose"`);
  }
  expect(findOpenQuestions(readConfig({ stage: "dev" }), shipped)).toEqual([]);
});

test("a synthesis warns of each, with the stage's file, and of a throttle with its line", async () => {
  const found = await warnings({ throttleBurst: 2500 });
  expect(found).toHaveLength(questions.length);
  for (const warning of found) expect(warning).toMatch(/^warning stages\/prod\.json/);
  expect(found[4]).toBe(
    'warning stages/prod.json: backup is not set, so no copy of its data outlives the table, or 35 days. Set or change it there, or add "backup" to "onPurpose". [ack: leads-and-conversations:backup]',
  );
  expect(found[5]).toMatch(/^warning stages\/prod\.json:1: throttleBurst is 2500, so /);
});

test("a throttle that the file does not set has no line", async () => {
  expect((await warnings({})).at(-1)).toMatch(/^warning stages\/prod\.json: throttleBurst is 2500, so /);
});

const set = {
  ...{ account: "123456789012", region: "eu-west-1", alarmsTo: "ops@example.com", monthlyBudget: 250 },
  ...{ backup: { keepDays: 35 }, throttleBurst: 1000 },
};

test.each<[string, TestSettings]>([
  ["sets each", set],
  ["answers each", { onPurpose: questions }],
  ["answers what it does not set", { ...set, throttleBurst: 1001, onPurpose: ["throttleBurst"] }],
  ["deletes its data with its stack", { removalPolicy: "destroy" }],
])("a stage that %s has no warning", async (_, settings) => {
  expect(await warnings(settings)).toEqual([]);
});

test("one answer leaves the other questions open", async () => {
  const found = await warnings({ onPurpose: ["backup"] });
  expect(found).toHaveLength(questions.length - 1);
  expect(found.join()).not.toContain("backup");
});

test("the local run has no warnings", async () => {
  expect(await warnings({}, { checked: false })).toEqual([]);
});

test("a stage without a file names the one that it could have", async () => {
  const stages = await writeStages(await createDirectory(), "prod", { onPurpose: questions });
  const found = findOpenQuestions(readConfig({ stage: "pr-42", like: "prod" }, stages), stages);
  expect(found.map(([, warning]) => warning.split(":")[0])).toEqual(Array(6).fill("stages/pr-42.json"));
});
