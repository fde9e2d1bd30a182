import { spawnSync } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { issueApiKey } from "../../../shared/domain/api-keys.ts";
import { dataDirectoryOfRun, opsKeys } from "../../support/ops.ts";

const list = ["list", "--account", "a", "--local"];

async function expectSentence(dataDirectory: string, sentence: RegExp) {
  const { code, stdout, stderr } = await opsKeys(list, { dataDirectory });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr.trim()).toMatch(sentence);
}

test("without a local run, the operator is told so", async () => {
  const dataDirectory = await dataDirectoryOfRun();
  await rm(join(dataDirectory, "run.json"));
  await expectSentence(
    dataDirectory,
    /^There is no .*run\.json: is `npm start` running, with the same DATA_DIR\?$/,
  );
});

test.each([
  "",
  "{",
  "null",
  "{}",
  '{"tableName":"t","dynamodbEndpoint":"http://127.0.0.1"}',
])("a run.json that holds %j does not say where the run is", async (text) => {
  const dataDirectory = await dataDirectoryOfRun();
  await writeFile(join(dataDirectory, "run.json"), text);
  await expectSentence(dataDirectory, /^.*run\.json does not say where a run is: start `npm start` again\.$/);
});

test("a run that was killed is told by its process", async () => {
  const dataDirectory = await dataDirectoryOfRun();
  const { pid } = spawnSync(process.execPath, ["--version"]);
  const run = { tableName: "t", dynamodbEndpoint: inject("engine").endpoint, pid };
  await writeFile(join(dataDirectory, "run.json"), JSON.stringify(run));
  await expectSentence(
    dataDirectory,
    new RegExp(`\\(process ${pid}\\) is no longer running: start it again\\.$`),
  );
});

test("an empty DATA_DIR is none, as it is for `npm start`", async () => {
  const { keyId } = await issueApiKey("a");
  const cwd = await dataDirectoryOfRun();
  expect((await opsKeys(list, { dataDirectory: cwd })).stdout).toContain(keyId);
  const { stdout } = await opsKeys(list, { dataDirectory: "", cwd });
  expect(stdout).not.toContain(keyId);
});

test("--local does not ask for the credentials of AWS that the operator has", async () => {
  const { keyId } = await issueApiKey("profile");
  const env = {
    AWS_PROFILE: "nobody",
    AWS_REGION: "eu-central-1",
    AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE",
  };
  const args = ["list", "--account", "profile", "--local"];
  const { code, stdout, stderr } = await opsKeys(args, { dataDirectory: await dataDirectoryOfRun(), env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain(keyId);
});
