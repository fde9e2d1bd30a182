import { randomUUID } from "node:crypto";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, onTestFinished, test } from "vitest";
import { issueApiKey } from "../../../../lib/ops/keys/api-key-changes.ts";
import { parseApiKey } from "../../../../shared/domain/api-key-format.ts";
import { findApiKey } from "../../../../shared/domain/api-keys.ts";
import {
  accountApiKeysPartition,
  apiKeyKey,
  conversationKey,
  leadKey,
} from "../../../../shared/dynamodb/keys.ts";
import { readItem, table, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { createDataDirectory, opsKeys } from "../../../support/ops.ts";

const dataDirectory = await createDataDirectory();
const keys = (command: string, ...args: string[]) =>
  opsKeys([command, ...args, ...(/revoke|rotate/.test(command) ? ["--yes"] : [])], { dataDirectory });
const local = (account: string, ...args: string[]) => [...args, "--account", account, "--local"];

describe("ops keys", () => {
  test("issues a valid key, prints it once, and lists only its record", async () => {
    const account = randomUUID();
    const issued = await keys("issue", ...local(account, "--label", "CI", "--valid-for", "2d"));
    const apiKey = issued.stdout.trim();
    expect(await findApiKey(apiKey)).toMatchObject({ accountId: account });
    const { stdout } = await keys("list", ...local(account, "--json"));
    const [record, ...others] = JSON.parse(stdout);
    expect(others).toEqual([]);
    expect(record).toMatchObject({ accountId: account, label: "CI", state: "live" });
    const days = (Date.parse(record.validUntil) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(1.99);
    expect(days).toBeLessThanOrEqual(2);
    expect(stdout).not.toContain(apiKey.split("_")[2]);
    expect((await keys("list", ...local(account))).stdout).toContain(record.keyId);
  });

  test.each([
    ["issue", []],
    ["issue", ["--json"]],
    ["rotate", []],
    ["rotate", ["--json"]],
  ] as const)("%s %j prints the new key once, only on stdout", async (command, form) => {
    const account = randomUUID();
    const old = await issueApiKey(account);
    const rest = command === "rotate" ? ["--key", old.keyId, ...form] : form;
    const { code, stdout, stderr } = await keys(command, ...local(account, ...rest));
    expect(code).toBe(0);
    const [apiKey = "", ...others] = stdout.match(/lck_\w+/g) ?? [];
    expect(await findApiKey(apiKey)).toMatchObject({ accountId: account });
    expect(others).toEqual([]);
    expect(stdout.split(apiKey.split("_")[2] ?? "")).toHaveLength(2);
    expect(stderr).not.toMatch(/lck_/);
    expect(stdout + stderr).not.toContain(parseApiKey(apiKey)?.sha256);
  });

  test("revokes a whole key without its account, and never prints it", async () => {
    const account = randomUUID();
    const { apiKey, keyId } = await issueApiKey(account);
    const other = randomUUID();
    await issueApiKey(other);
    const stranger = await keys("revoke", ...local(other, "--key", apiKey));
    const header = await keys("revoke", ...local(other, "--key", `Bearer ${apiKey}`));
    const revoked = await keys("revoke", "--local", "--key", apiKey);
    expect(revoked).toMatchObject({ code: 0, stdout: `The key ${keyId} is revoked.\n` });
    expect(stranger).toMatchObject({ code: 1, stderr: expect.stringContaining(`has no key ${keyId}: `) });
    expect(header).toMatchObject({ code: 1, stderr: expect.stringContaining(`has no key ${keyId}: `) });
    const secret = apiKey.split("_")[2];
    for (const { stdout, stderr } of [stranger, header, revoked])
      expect(stdout + stderr).not.toContain(secret);
    expect(await findApiKey(apiKey)).toBeUndefined();
  });

  test("rotates a whole key without its account", async () => {
    const account = randomUUID();
    const old = await issueApiKey(account);
    const rotated = await keys("rotate", "--local", "--key", old.apiKey, "--overlap", "1s", "--json");
    const { issued, replaced } = JSON.parse(rotated.stdout);
    expect(await findApiKey(issued.apiKey)).toMatchObject({ accountId: account });
    expect(replaced).toMatchObject({ keyId: old.keyId, validUntil: expect.any(String) });
  });

  test("ends the key itself when other items with its id are in the index of the account's keys", async () => {
    const account = randomUUID();
    const { apiKey, keyId } = await issueApiKey(account);
    const decoys = [leadKey(account, "0"), conversationKey(account, "~")];
    for (const key of decoys) {
      const planted = { ...key, byParent: accountApiKeysPartition(account), keyId, accountId: account };
      await table.send(new PutCommand({ TableName: tableName, Item: planted }));
    }
    const listed = await keys("list", ...local(account, "--json"));
    expect(JSON.parse(listed.stdout).map((key: { keyId: string }) => key.keyId)).toEqual([keyId]);
    expect(listed.stderr).toMatch(/lists 2 items that are not keys, such as \["(?:LEAD|CONVERSATION)#/);
    const rotated = await keys("rotate", ...local(account, "--key", keyId, "--json"));
    expect(JSON.parse(rotated.stdout).replaced.keyId).toBe(keyId);
    const revoked = await keys("revoke", ...local(account, "--key", keyId));
    expect(revoked).toMatchObject({ code: 0, stdout: `The key ${keyId} is revoked.\n` });
    expect(await findApiKey(apiKey)).toBeUndefined();
    for (const key of decoys) expect(await readItem(key)).not.toHaveProperty("revokedAt");
  });

  test("changes nothing when two keys have the same id, unless the whole key is named", async () => {
    const account = randomUUID();
    const { apiKey, keyId } = await issueApiKey(account);
    const twin = { ...apiKeyKey("f".repeat(64), keyId), byParent: accountApiKeysPartition(account) };
    const Item = { ...twin, keyId, accountId: account, createdAt: "2026-01-01T00:00:00.000Z" };
    await table.send(new PutCommand({ TableName: tableName, Item }));
    for (const command of ["list", "revoke", "rotate"]) {
      const named = command === "list" ? [] : ["--key", keyId];
      const { code, stdout, stderr } = await keys(command, ...local(account, ...named));
      expect([command, code, stdout]).toEqual([command, 1, ""]);
      expect(stderr).toContain(`two keys with the id ${keyId}`);
    }
    expect(await findApiKey(apiKey)).toMatchObject({ keyId });
    expect((await keys("revoke", "--local", "--key", apiKey)).code).toBe(0);
    expect(await findApiKey(apiKey)).toBeUndefined();
  });

  test("issues a key when the response of the first attempt is lost", async () => {
    let attempts = 0;
    table.middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args);
        attempts += 1;
        if (attempts === 1) throw Object.assign(new Error("The response is lost."), { name: "TimeoutError" });
        return result;
      },
      { step: "finalizeRequest", priority: "low", name: "loseResponse" },
    );
    onTestFinished(() => void table.middlewareStack.remove("loseResponse"));
    const account = randomUUID();
    const { apiKey, keyId } = await issueApiKey(account);
    expect(attempts).toBe(2);
    expect(await findApiKey(apiKey)).toEqual({ accountId: account, keyId, access: "full" });
  });

  test("issues a read key, lists its access, and keeps it when the key is rotated", async () => {
    const account = randomUUID();
    const issued = await keys("issue", ...local(account, "--access", "read", "--json"));
    const { apiKey, keyId, access } = JSON.parse(issued.stdout);
    expect(access).toBe("read");
    expect(await findApiKey(apiKey)).toEqual({ accountId: account, keyId, access: "read" });
    const rotated = await keys("rotate", ...local(account, "--key", keyId, "--json"));
    expect(await findApiKey(JSON.parse(rotated.stdout).issued.apiKey)).toMatchObject({ access: "read" });
    await issueApiKey(account);
    const listed = JSON.parse((await keys("list", ...local(account, "--json"))).stdout);
    expect(listed.map((key: { access: string }) => key.access)).toEqual(["read", "read", "full"]);
    expect((await keys("list", ...local(account))).stdout).toMatch(
      /^keyId +state +access +createdAt +validUntil\n(?:\w+ +live +read +\S+ +\S+\n?)/,
    );
  });

  test("revokes a key only once", async () => {
    const account = randomUUID();
    const { apiKey, keyId } = JSON.parse((await keys("issue", ...local(account, "--json"))).stdout);
    const revoked = await keys("revoke", ...local(account, "--key", keyId, "--json"));
    expect(JSON.parse(revoked.stdout)).toMatchObject({ keyId, revokedAt: expect.any(String) });
    expect(await findApiKey(apiKey)).toBeUndefined();
    const again = await keys("revoke", ...local(account, "--key", keyId));
    expect(again).toMatchObject({ code: 1, stderr: expect.stringMatching(/was already revoked/) });
  });

  test("rotates a key: the new key is valid at once, the old one until the overlap ends", async () => {
    const account = randomUUID();
    const old = JSON.parse((await keys("issue", ...local(account, "--json", "--label", "web"))).stdout);
    const rotated = await keys("rotate", ...local(account, "--key", old.keyId, "--overlap", "1h", "--json"));
    const { issued, replaced } = JSON.parse(rotated.stdout);
    expect(await findApiKey(issued.apiKey)).toMatchObject({ accountId: account, keyId: issued.keyId });
    expect(await findApiKey(old.apiKey)).toMatchObject({ accountId: account, keyId: old.keyId });
    expect(issued.label).toBe("web");
    expect(replaced.keyId).toBe(old.keyId);
    expect(Date.parse(replaced.validUntil) - Date.now()).toBeLessThanOrEqual(3_600_000);
    expect(Date.parse(replaced.validUntil) - Date.now()).toBeGreaterThan(3_500_000);
    const longer = await keys("rotate", ...local(account, "--key", old.keyId, "--overlap", "30d", "--json"));
    expect(JSON.parse(longer.stdout).replaced.validUntil).toBe(replaced.validUntil);
  });
});
