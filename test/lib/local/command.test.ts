import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { prepareDemoKey, startCommand } from "../../../lib/local/command.ts";
import type { LocalRun } from "../../../lib/local/local-run.ts";
import { issueApiKey } from "../../../lib/ops/keys/api-key-changes.ts";
import { UserError } from "../../../lib/user-error.ts";
import { findApiKey } from "../../../shared/domain/api-keys.ts";
import { temporaryDirectory } from "../../support/stack/temporary-directory.ts";
import { useTablesOfCommands } from "../../support/tables/memory-tables.ts";

useTablesOfCommands();

const run = { dynamodbEndpoint: "http://127.0.0.1:1", tableName: "unit" } as LocalRun;

test.each([
  ["of another account", async () => (await issueApiKey("acme")).apiKey],
  [
    "that has expired",
    async () => (await issueApiKey("demo", { validUntil: "2026-01-01T00:00:00Z" })).apiKey,
  ],
])("a key %s is replaced", async (_, write) => {
  const directory = await temporaryDirectory();
  await prepareDemoKey(directory, run);
  const other = await write();
  await writeFile(join(directory, "api-key"), `${other}\n`);
  const apiKey = await prepareDemoKey(directory, run);
  expect(apiKey).not.toBe(other);
  expect(await findApiKey(apiKey)).toMatchObject({ accountId: "demo" });
});

const parse = (...args: string[]) =>
  startCommand()
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .parseAsync(args, { from: "user" });

test("an unknown fault is rejected with a sentence", async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("FAULTS", "late,loss");
  const sentence = "FAULTS=late,loss must have one or more of throttle, late, drop, separated by commas.";
  await expect(parse()).rejects.toThrow(new UserError(sentence));
});

test("the stage is dev unless an option names another one, and the name is checked", async () => {
  expect(startCommand().opts()).toEqual({ stage: "dev", verbose: false });
  await expect(parse("--stage", "Prod")).rejects.toThrow(
    /'Prod' is invalid\. A stage's name has 1 to 21 lower-case letters, .*\.$/,
  );
});
