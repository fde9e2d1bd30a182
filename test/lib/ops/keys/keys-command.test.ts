import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, test, vi } from "vitest";
import { writeLimit } from "../../../../lib/ops/accounts/accounts-settings.ts";
import { issueApiKey, listApiKeys } from "../../../../lib/ops/keys/api-key-changes.ts";
import { findApiKey } from "../../../../shared/domain/api-keys.ts";
import {
  accountKey,
  accountPartition,
  apiKeyKey,
  conversationKey,
  leadKey,
} from "../../../../shared/dynamodb/keys.ts";
import { readItem } from "../../../../shared/dynamodb/table-client.ts";
import { aroundCalls, beforeCall } from "../../../support/tables/conditions.ts";
import { useTablesOfCommands } from "../../../support/tables/memory-tables.ts";
import { program } from "../support/program.ts";

const now = Date.UTC(2026, 0, 1);
const hour = 3_600_000;
const after = (milliseconds: number) => new Date(now + milliseconds).toISOString();

const memory = useTablesOfCommands();
const empty = memory.snapshot();
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now });
  memory.restore(empty);
});

/** Runs `keys …` on the table in memory, without questions. */
const keys = (command: string, ...args: readonly string[]) =>
  program(["keys", command, ...args, ...(command === "revoke" ? ["--yes"] : []), "--table", "unit"]);

/** The same with `--json`. @returns what it prints, parsed */
async function run(command: string, ...args: readonly string[]) {
  const { code, stdout, stderr } = await keys(command, ...args, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

const acme = ["--account", "acme"];

test("a key has full access forever, unless the options say otherwise", async () => {
  const full = await run("issue", ...acme);
  const { apiKey, keyId } = full;
  expect(full).toEqual({
    ...{ keyId: expect.any(String), accountId: "acme", access: "full", createdAt: after(0), apiKey },
  });
  expect(await findApiKey(apiKey)).toEqual({ accountId: "acme", keyId, access: "full" });
  const reader = await run("issue", ...acme, "--access", "read", "--valid-for", "12h", "--label", "CI");
  expect(reader).toMatchObject({ access: "read", validUntil: after(12 * hour), label: "CI" });
  expect(await findApiKey(reader.apiKey)).toMatchObject({ access: "read" });
  const creator = await run("issue", ...acme, "--access", "create");
  expect(await findApiKey(creator.apiKey)).toMatchObject({ access: "create" });
  // Neither the keys nor other attributes of their items.
  const listed = [full, reader, creator].map(({ apiKey: _, ...key }) => ({ ...key, state: "live" }));
  expect(new Set(await run("list", ...acme))).toEqual(new Set(listed));
  expect((await keys("list", ...acme)).stdout).toMatch(
    /^keyId +state +access +createdAt +validUntil +label\n(?:\w+ +live +(?:full|read|create) +\S+( +\S+ +CI)?\n){3}$/,
  );
  vi.setSystemTime(now + 12 * hour);
  expect(await findApiKey(reader.apiKey)).toBe("expired");
});

test("revoke ends a key at once, and a second revoke changes nothing", async () => {
  const { apiKey, ...record } = await issueApiKey("acme");
  const { keyId } = record;
  expect(await run("revoke", ...acme, "--key", keyId)).toEqual({ ...record, revokedAt: after(0) });
  expect(await findApiKey(apiKey)).toBe("revoked");
  vi.setSystemTime(now + hour);
  expect(await keys("revoke", ...acme, "--key", keyId)).toMatchObject({
    ...{ code: 1, stderr: `The key ${keyId} was already revoked at ${after(0)}.\n` },
  });
  expect(await listApiKeys("acme")).toMatchObject([{ revokedAt: after(0) }]);
});

test("a key that is deleted while it is revoked is not stored again", async () => {
  const { keyId } = await issueApiKey("acme");
  using _ = beforeCall(
    (command) => command instanceof UpdateCommand,
    async () => memory.restore(empty),
  );
  expect(await keys("revoke", ...acme, "--key", keyId)).toMatchObject({ code: 1, stdout: "" });
  expect([...memory.items()]).toEqual([]);
});

test("revoke does not find a key under the name of another account, and never prints it", async () => {
  const { keyId, apiKey } = await issueApiKey("acme");
  await issueApiKey("other");
  for (const key of [keyId, apiKey, `Bearer ${apiKey}`]) {
    const { code, stdout, stderr } = await keys("revoke", "--account", "other", "--key", key);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(new RegExp(`^The account other has no key ${keyId}\\.\n`));
    expect(stderr).not.toContain(apiKey.split("_")[2]);
  }
  expect(await findApiKey(apiKey)).toMatchObject({ accountId: "acme" });
});

test("revoke ends the key itself, even if other items with its id are in the index of the account's keys", async () => {
  const { apiKey, keyId } = await issueApiKey("acme");
  const decoys = [leadKey("acme", "0"), conversationKey("acme", "~")];
  for (const key of decoys)
    memory.put({ ...key, byParent: accountPartition("apiKey", "acme"), keyId, accountId: "acme" });
  const listed = await keys("list", ...acme, "--json");
  expect(JSON.parse(listed.stdout).map((key: { keyId: string }) => key.keyId)).toEqual([keyId]);
  expect((await keys("revoke", ...acme, "--key", keyId)).stdout).toBe(`The key ${keyId} is revoked.\n`);
  expect(await findApiKey(apiKey)).toBe("revoked");
  for (const key of decoys) expect(await readItem(key)).not.toHaveProperty("revokedAt");
});

test("list and revoke fail if two keys have the same id, unless the whole key is given", async () => {
  const { apiKey, keyId } = await issueApiKey("acme");
  const twin = { ...apiKeyKey("f".repeat(64), keyId), byParent: accountPartition("apiKey", "acme") };
  memory.put({ ...twin, keyId, accountId: "acme", createdAt: after(0) });
  for (const args of [["list"], ["revoke", "--key", keyId]] as const) {
    const { code, stdout, stderr } = await keys(args[0], ...args.slice(1), ...acme);
    expect([args, code, stdout]).toEqual([args, 1, ""]);
    expect(stderr).toContain(`two keys with the id ${keyId}`);
  }
  expect(await findApiKey(apiKey)).toMatchObject({ keyId });
  expect((await keys("revoke", "--key", apiKey)).code).toBe(0);
  expect(await findApiKey(apiKey)).toBe("revoked");
});

test("an account is created with its first key, and later keys do not change it", async () => {
  const item = () => readItem(accountKey("acme"));
  await run("issue", ...acme);
  const created = { ...accountKey("acme"), createdAt: after(0) };
  expect(await item()).toEqual(created);
  await writeLimit("acme", 5);
  vi.setSystemTime(now + hour);
  const issued = await keys("issue", ...acme);
  expect(issued).toEqual({ code: 0, stdout: expect.stringMatching(/^lck_\w+\n$/), stderr: "" });
  expect(await item()).toEqual({ ...created, requests: 5 });
});

test("a key whose first response is lost is issued once", async () => {
  // The SDK makes the same call again.
  using _ = aroundCalls((command, send) => send(command).then(() => send(command)));
  const { apiKey, keyId } = await issueApiKey("acme");
  expect(await findApiKey(apiKey)).toMatchObject({ keyId });
  expect([...memory.items()].map(({ pk }) => String(pk).split("#")[0])).toEqual(["ACCOUNT", "KEY"]);
});
