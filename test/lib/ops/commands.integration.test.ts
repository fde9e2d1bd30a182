import { expect, test, vi } from "vitest";
import { operatorConfig } from "../../../lib/ops/command/select-table.ts";
import { issueApiKey } from "../../../lib/ops/keys/api-key-changes.ts";
import { createDataDirectory } from "../../support/commands/data-directory.ts";
import { program } from "./support/program.ts";

test("--local uses neither the AWS credentials nor the endpoint of the operator", async () => {
  await issueApiKey("local");
  const env = {
    ...{ DATA_DIR: await createDataDirectory(), AWS_PROFILE: "nobody" },
    ...{ AWS_ENDPOINT_URL_DYNAMODB: "http://127.0.0.1:9", AWS_REGION: "eu-central-1" },
    AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE",
  };
  const outcome = await program(["keys", "list", "--account", "local", "--local"], { env });
  expect(outcome).toMatchObject({ code: 0, stderr: "" });
});

const noConfiguration = { HOME: "/nowhere", AWS_EC2_METADATA_DISABLED: "true" };

test.each([
  [
    "no credentials",
    { ...noConfiguration, AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "" },
    /^AWS cannot be used \(CredentialsProviderError: .+\): check AWS_PROFILE, .+\.\n$/,
  ],
  [
    "an empty region",
    { ...noConfiguration, AWS_REGION: "" },
    /^AWS cannot be used \(Error: Region .+\): check AWS_PROFILE, AWS_REGION .+\.\n$/,
  ],
])("%s is reported in one sentence", async (_, env, sentence) => {
  // The SDK would wait between its attempts.
  vi.spyOn(operatorConfig, "maxAttempts", "get").mockReturnValue(1);
  const args = ["keys", "list", "--account", "a", "--table", "no-such-table"];
  const { code, stdout, stderr } = await program(args, { env });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(sentence);
});
