import { GetCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { expect, onTestFinished, test } from "vitest";
import { endApiKey } from "../../../../lib/ops/keys/api-key-changes.ts";
import { table } from "../../../../shared/dynamodb/table-client.ts";
import { mockClient } from "../../../support/mocked-client.ts";

const reference = { keyId: "01JZ0000000000000000000000", sha256: "0".repeat(64), account: undefined };
const item = {
  pk: `KEY#${reference.sha256}`,
  sk: reference.keyId,
  keyId: reference.keyId,
  accountId: "acme",
};
const revokedAt = "2026-01-01T00:00:00.000Z";

test.each([
  ["another item was changed", item],
  ["another writer set another time", { ...item, revokedAt: "2030-01-01T00:00:00.000Z" }],
  ["the key is gone", undefined],
])("a revocation fails when the stored key does not have it: %s", async (_, stored) => {
  const mock = mockClient(table);
  onTestFinished(() => mock.restore());
  mock.on(UpdateCommand).resolves({ Attributes: { ...item, revokedAt } });
  mock.on(GetCommand).resolvesOnce({ Item: item }).resolves({ Item: stored });
  await expect(endApiKey(reference, { revokedAt })).rejects.toThrow("does not have its new end");
  const [, verification] = mock.commandCalls(GetCommand);
  expect(verification?.args[0].input).toMatchObject({
    Key: { pk: item.pk, sk: item.sk },
    ConsistentRead: true,
  });
});
