import { UpdateCommand, type UpdateCommandInput } from "@aws-sdk/lib-dynamodb";
import { describe, expect, test, vi } from "vitest";
import { handler } from "../../functions/authorize.ts";
import { endApiKey, issueApiKey, listApiKeys } from "../../lib/ops/keys/api-key-changes.ts";
import { newApiKey, parseApiKey } from "../../shared/domain/api-key-format.ts";
import { apiKeyState } from "../../shared/domain/api-keys.ts";
import { apiKeyKey } from "../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../shared/dynamodb/table-client.ts";
import { authorizerEvent } from "../support/events.ts";

const authorize = (authorization: string) => handler(authorizerEvent(authorization));
const soon = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();
const denied = { isAuthorized: false };
const accessName = { "#access": "access" };

/** Updates the item of a key. */
function update(apiKey: string, change: Partial<UpdateCommandInput> = {}) {
  const { sha256 = "", keyId = "" } = parseApiKey(apiKey) ?? {};
  const Key = apiKeyKey(sha256, keyId);
  return table.send(new UpdateCommand({ TableName: tableName, Key, ReturnValues: "ALL_NEW", ...change }));
}

describe("the authorizer", () => {
  test.each([
    "Bearer ",
    "bearer ",
    "BEARER  ",
  ])("admits a live key after %j and returns its account", async (scheme) => {
    const { apiKey, keyId } = await issueApiKey("acme");
    const context = { accountId: "acme", keyId, access: "full" };
    expect(await authorize(scheme + apiKey)).toEqual({ isAuthorized: true, context });
  });

  test("returns the access of the key", async () => {
    const { apiKey, keyId } = await issueApiKey("reader", { access: "read" });
    const context = { accountId: "reader", keyId, access: "read" };
    expect(await authorize(`Bearer ${apiKey}`)).toEqual({ isAuthorized: true, context });
  });

  test("rejects a key without an access", async () => {
    const { apiKey } = await issueApiKey("no-access");
    await update(apiKey, { UpdateExpression: "REMOVE #access", ExpressionAttributeNames: accessName });
    expect(await authorize(`Bearer ${apiKey}`)).toEqual(denied);
  });

  test.each(["", "FULL", "write", null, 1, ["full"]])("rejects a key with the access %j", async (access) => {
    const { apiKey } = await issueApiKey("unknown-access");
    await update(apiKey, {
      UpdateExpression: "SET #access = :access",
      ExpressionAttributeNames: accessName,
      ExpressionAttributeValues: { ":access": access },
    });
    expect(await authorize(`Bearer ${apiKey}`)).toEqual(denied);
  });

  test.each<[string, unknown]>([
    ...["accountId", "keyId", "validUntil", "revokedAt"].map((name): [string, unknown] => [name, 1]),
    ["accountId", ""],
    ["keyId", "another"],
  ])("rejects a key with the %s %j, and logs the item", async (name, value) => {
    const { apiKey, keyId } = await issueApiKey("malformed");
    await update(apiKey, {
      UpdateExpression: "SET #name = :value",
      ExpressionAttributeNames: { "#name": name },
      ExpressionAttributeValues: { ":value": value },
    });
    const logged = vi.spyOn(console, "error").mockReturnValue();
    expect(await authorize(`Bearer ${apiKey}`)).toEqual(denied);
    expect(logged).toHaveBeenCalledWith(expect.objectContaining({ event: "malformed item", sk: keyId }));
    logged.mockRestore();
  });

  test("admits each of an account's live keys", async () => {
    const keys = await Promise.all([1, 2, 3].map(() => issueApiKey("several", { validUntil: soon(60_000) })));
    for (const { apiKey } of keys)
      expect(await authorize(`Bearer ${apiKey}`)).toMatchObject({ isAuthorized: true });
  });

  test("rejects a revoked key, and only that one", async () => {
    const [revoked, other] = [await issueApiKey("revoking"), await issueApiKey("revoking")];
    await endApiKey({ account: "revoking", keyId: revoked.keyId }, { revokedAt: soon(0) });
    expect(await authorize(`Bearer ${revoked.apiKey}`)).toEqual(denied);
    expect(await authorize(`Bearer ${other.apiKey}`)).toMatchObject({ isAuthorized: true });
  });

  test("rejects a key from the moment it expires", async () => {
    const { apiKey, keyId } = await issueApiKey("expiring", { validUntil: soon(-1) });
    expect(await authorize(`Bearer ${apiKey}`)).toEqual(denied);
    await endApiKey({ account: "expiring", keyId }, { validUntil: soon(60_000) });
    expect(await authorize(`Bearer ${apiKey}`)).toMatchObject({ isAuthorized: true });
  });

  test("rejects a malformed key, an unknown key and any other scheme than Bearer", async () => {
    const { apiKey, keyId } = await issueApiKey("malformed");
    const other = newApiKey(keyId);
    for (const text of [
      "",
      apiKey,
      `Basic ${apiKey}`,
      `Bearer${apiKey}`,
      `Bearer ${apiKey}x`,
      `Bearer ${apiKey},Bearer ${apiKey}`,
      `Bearer ${apiKey} ${apiKey}`,
      `Bearer ${other}`,
      `Bearer ${apiKey.slice(0, -1)}`,
      `Bearer ${apiKey.replace("lck", "LCK")}`,
      "Bearer null",
    ]) {
      expect(await authorize(text), text).toEqual(denied);
    }
    expect(await handler({ ...authorizerEvent(""), identitySource: [] })).toEqual(denied);
  });
});

describe("an API key's record", () => {
  test("holds a digest, never the secret", async () => {
    const { apiKey, keyId } = await issueApiKey("digest", { label: "CI" });
    const { Attributes } = await update(apiKey);
    const secret = apiKey.split("_")[2] ?? "none";
    expect(Attributes).toMatchObject({ accountId: "digest", label: "CI", keyId });
    expect(JSON.stringify(Attributes)).not.toContain(secret);
  });

  test("is listed with those of its account only, oldest first, with its state", async () => {
    const live = await issueApiKey("list-a");
    const old = await issueApiKey("list-a", { validUntil: soon(-1000) });
    await issueApiKey("list-b");
    const { keyId } = await issueApiKey("list-a");
    const revoked = await endApiKey({ account: "list-a", keyId }, { revokedAt: soon(0) });
    const keys = await listApiKeys("list-a");
    expect(keys.map((key) => [key.keyId, apiKeyState(key)]).sort()).toEqual(
      [
        [live.keyId, "live"],
        [old.keyId, "expired"],
        [revoked?.keyId, "revoked"],
      ].sort(),
    );
    expect(keys.map(({ keyId }) => keyId)).toEqual(keys.map(({ keyId }) => keyId).sort());
    expect(JSON.stringify(keys)).not.toContain("lck_");
  });

  test("of another account cannot be ended", async () => {
    const { keyId, apiKey } = await issueApiKey("mine");
    expect(await endApiKey({ account: "theirs", keyId }, { revokedAt: soon(0) })).toBeUndefined();
    expect(await authorize(`Bearer ${apiKey}`)).toMatchObject({ isAuthorized: true });
  });
});
