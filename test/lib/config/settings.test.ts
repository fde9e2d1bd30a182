import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv } from "ajv";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import { expect, test } from "vitest";
import { ownSettings, stageSchema } from "../../../lib/config/settings.ts";

const settings = Object.entries(stageSchema.properties);

test("the schema is a valid one, which the check of a stage's file takes for granted", () => {
  const ajv = new Ajv();
  expect(ajv.validateSchema(stageSchema), ajv.errorsText()).toBe(true);
});

test("docs/configuration.md has every setting once", async () => {
  const page = await readFile(join(import.meta.dirname, "../../../docs/configuration.md"), "utf8");
  for (const [name] of settings.slice(1)) expect(page.split(`\n| \`${name}\` |`)).toHaveLength(2);
});

test.each(settings)("%s has a description for editors", (_, { description }) => {
  expect(description).toMatch(/^[A-Z`].*\.$/);
});

test("the retentions are those that CloudWatch supports", () => {
  const supported = Object.values(RetentionDays).filter((days) => Number(days) < RetentionDays.INFINITE);
  expect([...stageSchema.properties.logRetentionDays.enum].sort()).toEqual(supported.sort());
});

test("what belongs to one stage is a setting", () => {
  for (const name of ownSettings) expect(stageSchema.properties).toHaveProperty(name);
});
