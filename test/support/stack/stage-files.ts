import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { StageSettings } from "../../../lib/config/settings.ts";

/** The stages of the tests, so that the shipped stages can be changed without breaking a test. */
const stages: Readonly<Record<string, StageSettings>> = {
  dev: {
    removalPolicy: "destroy",
    throttleRate: 500,
    throttleBurst: 500,
    logRetentionDays: 7,
  },
  prod: { canary: true },
};

/** Settings with which the stack has every alarm that it can have. */
export const withEveryAlarm = {
  domainName: "api.example.com",
  certificateArn: "arn:aws:acm:eu-west-1:123456789012:certificate/abc-123",
  deployment: "canary",
  channels: true,
};

/** The settings of `withEveryAlarm`, and those that add other resources or properties. */
export const withEverything = {
  ...withEveryAlarm,
  tracing: true,
  eventArchiveDays: 7,
  corsOrigins: ["https://app.example.com", "https://admin.example.com"],
};

/** Settings of a stage, of any type, because tests also use wrong settings. */
export type TestSettings = Readonly<Record<string, unknown>>;

/**
 * Writes the files of the tests' stages, and of `stage` if it is another one.
 *
 * @param settings override the settings of `stage`
 * @returns the directory
 */
export async function writeStages(
  parent: string,
  stage: string,
  settings: TestSettings = {},
): Promise<string> {
  const directory = join(parent, "stages");
  await mkdir(directory, { recursive: true });
  const files = { ...stages, [stage]: { ...stages[stage], ...settings } };
  for (const [name, file] of Object.entries(files))
    await writeFile(join(directory, `${name}.json`), JSON.stringify(file));
  return directory;
}
