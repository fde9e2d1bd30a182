import { spawnSync } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { issueApiKey } from "../../../../lib/ops/keys/api-key-changes.ts";
import { engineEndpoint } from "../../../support/engine-endpoint.ts";
import { createDataDirectory, opsKeys } from "../../../support/ops.ts";

const list = ["list", "--account", "a", "--local"];

async function expectSentence(dataDirectory: string, sentence: RegExp) {
  const { code, stdout, stderr } = await opsKeys(list, { dataDirectory });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr.trim()).toMatch(sentence);
}

test("without a local run, the command says so", async () => {
  const dataDirectory = await createDataDirectory();
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
])("a run.json with %j is not valid", async (text) => {
  const dataDirectory = await createDataDirectory();
  await writeFile(join(dataDirectory, "run.json"), text);
  await expectSentence(dataDirectory, /^.*run\.json is not valid: restart `npm start`\.$/);
});

test("a killed run is detected by its process id", async () => {
  const dataDirectory = await createDataDirectory();
  const { pid } = spawnSync(process.execPath, ["--version"]);
  const run = { tableName: "t", dynamodbEndpoint: engineEndpoint, pid };
  await writeFile(join(dataDirectory, "run.json"), JSON.stringify(run));
  await expectSentence(dataDirectory, new RegExp(`\\(process ${pid}\\) has ended: start it again\\.$`));
});

test("an empty DATA_DIR means the default, as for `npm start`", async () => {
  const { keyId } = await issueApiKey("a");
  const cwd = await createDataDirectory();
  expect((await opsKeys(list, { dataDirectory: cwd })).stdout).toContain(keyId);
  const { stdout } = await opsKeys(list, { dataDirectory: "", cwd });
  expect(stdout).not.toContain(keyId);
});

test("--local uses neither the AWS credentials nor the endpoint of the operator", async () => {
  const { keyId } = await issueApiKey("profile");
  const env = {
    AWS_PROFILE: "nobody",
    AWS_ENDPOINT_URL_DYNAMODB: "http://127.0.0.1:9",
    AWS_REGION: "eu-central-1",
    AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE",
  };
  const args = ["list", "--account", "profile", "--local"];
  const { code, stdout, stderr } = await opsKeys(args, { dataDirectory: await createDataDirectory(), env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain(keyId);
});
