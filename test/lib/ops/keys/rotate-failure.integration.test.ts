import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { engineHeaders } from "../../../../lib/local/engine/dynamodb-client.ts";
import { startIamProxy } from "../../../../lib/local/iam/iam-proxy.ts";
import { issueApiKey } from "../../../../lib/ops/keys/api-key-changes.ts";
import { findApiKey } from "../../../../shared/domain/api-keys.ts";
import { indexes } from "../../../../shared/dynamodb/keys.ts";
import { tableName } from "../../../../shared/dynamodb/table-client.ts";
import { engineEndpoint } from "../../../support/engine-endpoint.ts";
import { createDataDirectory, opsKeys } from "../../../support/ops.ts";
import { createFunction } from "../../local/support/stack.ts";

/** The environment of an operator who may issue and list keys, but not change them. */
async function restrictedOperator() {
  const proxy = await startIamProxy({
    endpoint: engineEndpoint,
    findPartitionKey: (index) => (index === undefined ? "pk" : indexes[index as keyof typeof indexes]),
    headers: engineHeaders,
    log: () => {},
  });
  onTestFinished(proxy.close);
  const actions = ["dynamodb:PutItem", "dynamodb:Query"];
  const statement = { effect: "Allow", actions, resources: ["*"], conditions: [] } as const;
  const operator = await createFunction("", { role: { name: "Operator", statements: [statement] } });
  const env = {
    AWS_ENDPOINT_URL_DYNAMODB: proxy.endpoint,
    AWS_ACCESS_KEY_ID: proxy.createAccessKey(operator),
  };
  return { dataDirectory: await createDataDirectory(), env };
}

/** The output options, and how to read the new key from the output. */
const forms: [string[], (stdout: string) => string][] = [
  [[], (stdout) => stdout.trim()],
  [["--json"], (stdout) => JSON.parse(stdout).issued.apiKey],
];

test.each(
  forms,
)("a rotation that cannot end the old key prints the new one, with %j", async (form, newKey) => {
  const account = randomUUID();
  const { keyId } = await issueApiKey(account);
  const args = ["rotate", "--account", account, "--key", keyId, "--table", tableName, "--yes", ...form];
  const { code, stdout, stderr } = await opsKeys(args, await restrictedOperator());
  expect(code).toBe(1);
  expect(stderr).toContain(
    `The new key is issued, but the end of the key ${keyId} could not be set: AWS denied access: `,
  );
  const revoke = `npm run ops -- keys revoke --key ${keyId} --account ${account} --table ${tableName}`;
  expect(stderr).toContain(`. When the new key is in use, run \`${revoke}\`.\n`);
  expect(await findApiKey(newKey(stdout))).toMatchObject({ accountId: account });
});
