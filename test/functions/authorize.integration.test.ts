import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, test } from "vitest";
import { handler } from "../../functions/authorize.ts";
import { endApiKey, issueApiKey, listApiKeys } from "../../lib/ops/changes/api-key-changes.ts";
import { newApiKey, parseApiKey } from "../../shared/domain/api-key-format.ts";
import { apiKeyState } from "../../shared/domain/api-keys.ts";
import { apiKeyKey } from "../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../shared/dynamodb/table-client.ts";
import { authorizerEvent } from "../support/events.ts";

const authorize = (authorization: string) => handler(authorizerEvent(authorization));
const soon = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();
const denied = { isAuthorized: false };

describe("the authorizer", () => {
  test.each([
    "Bearer ",
    "bearer ",
    "BEARER  ",
  ])("admits a live key after %j and returns its account", async (scheme) => {
    const { apiKey, keyId } = await issueApiKey("acme");
    const context = { accountId: "acme", keyId };
    expect(await authorize(scheme + apiKey)).toEqual({ isAuthorized: true, context });
  });

  test("admits each of an account's live keys", async () => {
    const keys = await Promise.all([1, 2, 3].map(() => issueApiKey("several", { validUntil: soon(60_000) })));
    for (const { apiKey } of keys)
      expect(await authorize(`Bearer ${apiKey}`)).toMatchObject({ isAuthorized: true });
  });

  test("rejects a revoked key, and only that one", async () => {
    const [revoked, other] = [await issueApiKey("revoking"), await issueApiKey("revoking")];
    await endApiKey("revoking", revoked.keyId, { revokedAt: soon(0) });
    expect(await authorize(`Bearer ${revoked.apiKey}`)).toEqual(denied);
    expect(await authorize(`Bearer ${other.apiKey}`)).toMatchObject({ isAuthorized: true });
  });

  test("rejects a key from the moment it expires", async () => {
    const { apiKey, keyId } = await issueApiKey("expiring", { validUntil: soon(-1) });
    expect(await authorize(`Bearer ${apiKey}`)).toEqual(denied);
    await endApiKey("expiring", keyId, { validUntil: soon(60_000) });
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
    const { sha256 = "" } = parseApiKey(apiKey) ?? {};
    const { Attributes } = await table.send(
      new UpdateCommand({ TableName: tableName, Key: apiKeyKey(sha256, keyId), ReturnValues: "ALL_NEW" }),
    );
    const secret = apiKey.split("_")[2] ?? "none";
    expect(Attributes).toMatchObject({ accountId: "digest", label: "CI", keyId });
    expect(JSON.stringify(Attributes)).not.toContain(secret);
  });

  test("is listed with those of its account only, oldest first, with its state", async () => {
    const live = await issueApiKey("list-a");
    const old = await issueApiKey("list-a", { validUntil: soon(-1000) });
    await issueApiKey("list-b");
    const revoked = await endApiKey("list-a", (await issueApiKey("list-a")).keyId, { revokedAt: soon(0) });
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
    expect(await endApiKey("theirs", keyId, { revokedAt: soon(0) })).toBeUndefined();
    expect(await authorize(`Bearer ${apiKey}`)).toMatchObject({ isAuthorized: true });
  });
});
