import { randomUUID } from "node:crypto";
import { expect, inject, onTestFinished, test } from "vitest";
import { engineHeaders } from "../../../lib/local/engine/dynamodb-client.ts";
import { startIamProxy } from "../../../lib/local/iam/iam-proxy.ts";
import { findApiKey, issueApiKey } from "../../../shared/domain/api-keys.ts";
import { indexes } from "../../../shared/dynamodb/keys.ts";
import { tableName } from "../../../shared/dynamodb/table-client.ts";
import { dataDirectoryOfRun, opsKeys } from "../../support/ops.ts";
import { createFunction } from "../local/support/stack.ts";

/** The surroundings of an operator who may issue and list keys, but change none. */
async function restrictedOperator() {
  const { endpoint } = inject("engine");
  const proxy = await startIamProxy({
    endpoint,
    findPartitionKey: (index) => (index === undefined ? "pk" : indexes[index as keyof typeof indexes]),
    headers: engineHeaders,
    log: () => {},
  });
  onTestFinished(proxy.close);
  const actions = ["dynamodb:PutItem", "dynamodb:Query"];
  const statement = { effect: "Allow", actions, resources: ["*"], leadingKeys: [] } as const;
  const operator = await createFunction("", { role: { name: "Operator", statements: [statement] } });
  const env = {
    AWS_ENDPOINT_URL_DYNAMODB: proxy.endpoint,
    AWS_ACCESS_KEY_ID: proxy.createAccessKey(operator),
  };
  return { dataDirectory: await dataDirectoryOfRun(), env };
}

/** The new key as it is printed, in either form. */
const forms: [string[], (stdout: string) => string][] = [
  [[], (stdout) => stdout.trim()],
  [["--json"], (stdout) => JSON.parse(stdout).issued.apiKey],
];

test.each(
  forms,
)("a rotation that cannot end the old key prints the new one, with %j", async (form, newKey) => {
  const account = randomUUID();
  const { keyId } = await issueApiKey(account);
  const args = ["rotate", "--account", account, "--key", keyId, "--table", tableName, ...form];
  const { code, stdout, stderr } = await opsKeys(args, await restrictedOperator());
  expect(code).toBe(1);
  expect(stderr).toContain(`The new key is issued, but the key ${keyId} could not be ended (AccessDenied`);
  expect(await findApiKey(newKey(stdout))).toMatchObject({ accountId: account });
});
