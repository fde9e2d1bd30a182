import { expect, onTestFinished, test, vi } from "vitest";
import { createFunctions } from "../../../../lib/local/lambda/lambda-functions.ts";
import type { LocalFunction } from "../../../../lib/local/template/functions.ts";
import { createFunction } from "../support/stack.ts";

const readVariables = "exports.handler = async () => ({ ...process.env });";

function start(functions: readonly LocalFunction[]) {
  const created = createFunctions(functions, {
    createVariables: ({ name }) => ({ AWS_ACCESS_KEY_ID: `key of ${name}`, LOG_ERROR_MESSAGES: "true" }),
    maxEnvironments: 1,
    log: () => {},
  });
  onTestFinished(() => created.stop());
  return created;
}

test("a function has the variables of Lambda and its own, with its own access key, and none of the developer's", async () => {
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  for (const name of ["AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_CONFIG_FILE", "HOME", "NODE_OPTIONS"])
    vi.stubEnv(name, "");
  const fn = await createFunction(readVariables, { environment: { TABLE_NAME: "probes" } });
  const other = { ...fn, name: "Other", environment: {} };
  const { invoke } = start([fn, other]);
  expect(await invoke(other, "{}")).toMatchObject({ AWS_ACCESS_KEY_ID: "key of Other" });
  expect(await invoke(fn, "{}")).toEqual({
    AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
    AWS_LAMBDA_FUNCTION_NAME: "Probe",
    AWS_REGION: "local",
    AWS_ACCESS_KEY_ID: "key of Probe",
    AWS_SECRET_ACCESS_KEY: "local",
    TZ: ":UTC",
    TABLE_NAME: "probes",
    LOG_ERROR_MESSAGES: "true",
    _X_AMZN_TRACE_ID: "",
  });
});
