import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { endApiKey, issueApiKey, listApiKeys } from "../../../../lib/ops/keys/api-key-changes.ts";
import { parseApiKey } from "../../../../shared/domain/api-key-format.ts";
import { findApiKey } from "../../../../shared/domain/api-keys.ts";
import {
  accountApiKeysPartition,
  apiKeyKey,
  conversationKey,
  leadKey,
} from "../../../../shared/dynamodb/keys.ts";
import { type Item, readItem } from "../../../../shared/dynamodb/table-client.ts";
import { aroundCalls, killAtEachWrite } from "../../../support/conditions.ts";
import { MemoryTable } from "../../../support/memory-table.ts";
import { program } from "../support/program.ts";

const now = Date.UTC(2026, 0, 1);
const hour = 3_600_000;
const after = (milliseconds: number) => new Date(now + milliseconds).toISOString();

let memory: MemoryTable;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now });
  memory = new MemoryTable();
  // The command selects a client of its own.
  vi.spyOn(DynamoDBDocumentClient.prototype, "send").mockImplementation(memory.send as never);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Runs `keys …` on the table in memory, without questions. */
const keys = (command: string, ...args: readonly string[]) =>
  program(["keys", command, ...args, ...(/revoke|rotate/.test(command) ? ["--yes"] : []), "--table", "unit"]);

/** The same with `--json`. @returns what it prints, parsed */
async function run(command: string, ...args: readonly string[]) {
  const { code, stdout, stderr } = await keys(command, ...args, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

const acme = ["--account", "acme"];
const put = (Item: Item) => memory.execute(new PutCommand({ TableName: "unit", Item }));

test("a key has full access forever, unless the options say otherwise", async () => {
  const { apiKey, ...record } = await run("issue", ...acme);
  expect(record).toEqual({
    ...{ keyId: expect.any(String), accountId: "acme", access: "full", createdAt: after(0) },
  });
  expect(await findApiKey(apiKey)).toEqual({ accountId: "acme", keyId: record.keyId, access: "full" });
  const reader = await run("issue", ...acme, "--access", "read", "--valid-for", "12h", "--label", "CI");
  expect(reader).toMatchObject({ access: "read", validUntil: after(12 * hour), label: "CI" });
  expect(await findApiKey(reader.apiKey)).toMatchObject({ access: "read" });
  const ids = [record.keyId, reader.keyId].sort();
  expect((await run("list", ...acme)).map(({ keyId }: typeof record) => keyId).sort()).toEqual(ids);
  expect((await keys("list", ...acme)).stdout).toMatch(
    /^keyId +state +access +createdAt +validUntil +label\n(?:\w+ +live +(?:full|read) +\S+.*\n){2}$/,
  );
});

test.each([
  [[], 24 * hour],
  [["--overlap", "90s"], 90_000],
  [["--overlap", "7d"], 7 * 24 * hour],
])("rotate %j ends the old key after the overlap, and issues one with its access and label", async (overlap, length) => {
  const old = await issueApiKey("acme", { access: "read", label: "CI" });
  const { issued, replaced } = await run("rotate", ...acme, "--key", old.keyId, ...overlap);
  expect(replaced).toMatchObject({ keyId: old.keyId, validUntil: after(length) });
  expect(issued).toMatchObject({ accountId: "acme", access: "read", label: "CI" });
  expect(issued).not.toHaveProperty("validUntil");
  for (const { apiKey } of [old, issued]) expect(await findApiKey(apiKey)).toMatchObject({ access: "read" });
  expect(await listApiKeys("acme")).toHaveLength(2);
});

test("rotate --valid-for is how long the new key works", async () => {
  const old = await issueApiKey("acme", { validUntil: after(hour) });
  const { issued, replaced } = await run("rotate", ...acme, "--key", old.keyId, "--valid-for", "30d");
  expect(replaced.validUntil).toBe(after(hour));
  expect(issued.validUntil).toBe(after(30 * 24 * hour));
  vi.setSystemTime(now + 30 * 24 * hour - 1);
  expect(await findApiKey(issued.apiKey)).toMatchObject({ keyId: issued.keyId });
  vi.setSystemTime(now + 30 * 24 * hour);
  expect(await findApiKey(issued.apiKey)).toBe("expired");
});

test("rotate never extends a key, and names its end", async () => {
  const old = await issueApiKey("acme", { validUntil: after(hour) });
  const { stderr } = await keys("rotate", ...acme, "--key", old.keyId, "--overlap", "2h");
  expect(stderr).toBe(`The key ${old.keyId} is valid until ${after(hour)}.\n`);
});

test("revoke ends a key at once, and again changes nothing", async () => {
  const { keyId, apiKey } = await issueApiKey("acme");
  expect(await run("revoke", ...acme, "--key", keyId)).toMatchObject({ keyId, revokedAt: after(0) });
  expect(await findApiKey(apiKey)).toBe("revoked");
  vi.setSystemTime(now + hour);
  expect(await keys("revoke", ...acme, "--key", keyId)).toMatchObject({
    ...{ code: 1, stderr: `The key ${keyId} was already revoked at ${after(0)}.\n` },
  });
  expect(await listApiKeys("acme")).toMatchObject([{ revokedAt: after(0) }]);
});

test.each([
  "revoke",
  "rotate",
])("%s does not find a key under the name of another account, and never prints it", async (command) => {
  const { keyId, apiKey } = await issueApiKey("acme");
  await issueApiKey("other");
  for (const key of [keyId, apiKey, `Bearer ${apiKey}`]) {
    const { code, stdout, stderr } = await keys(command, "--account", "other", "--key", key);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(new RegExp(`^The account other has no key ${keyId}: see `));
    expect(stderr).not.toContain(apiKey.split("_")[2]);
  }
  expect(await findApiKey(apiKey)).toMatchObject({ accountId: "acme" });
  expect(await listApiKeys("other")).toHaveLength(1);
});

test.each(["revoke", "rotate"])("%s takes a whole id only, no beginning of one", async (command) => {
  const { keyId, apiKey } = await issueApiKey("acme");
  for (const part of [keyId.slice(0, -1), keyId.slice(0, 10), keyId.slice(0, 1), ""]) {
    const { code, stdout, stderr } = await keys(command, ...acme, "--key", part);
    expect([part, code, stdout]).toEqual([part, 1, ""]);
    expect(stderr).toBe(
      `The account acme has no key ${part}: see \`npm run ops -- keys list --account acme --table unit\`.\n`,
    );
  }
  expect(await findApiKey(apiKey)).toMatchObject({ keyId });
  expect(await listApiKeys("acme")).toHaveLength(1);
});

test("revokes a whole key without its account, and rotates it", async () => {
  const { apiKey, keyId } = await issueApiKey("acme");
  expect((await run("rotate", "--key", apiKey)).replaced).toMatchObject({ keyId });
  expect((await keys("revoke", "--key", apiKey)).stdout).toBe(`The key ${keyId} is revoked.\n`);
  expect(await findApiKey(apiKey)).toBe("revoked");
});

describe("nothing of a key's item is printed but its record", () => {
  test.each([
    ["list"],
    ["list", "--json"],
    ["revoke"],
    ["revoke", "--json"],
  ])("by %s %s", async (command, ...json) => {
    const { apiKey, keyId } = await issueApiKey("acme", { label: "CI" });
    const key = command === "list" ? [] : ["--key", keyId];
    const { stdout, stderr } = await keys(command, ...acme, ...key, ...json);
    expect(stdout).toContain(keyId);
    for (const hidden of [parseApiKey(apiKey)?.sha256, "KEY#", "byParent", ...apiKey.split("_").slice(2)])
      expect(stdout + stderr).not.toContain(hidden);
  });

  test.each([
    ["issue", []],
    ["issue", ["--json"]],
    ["rotate", []],
    ["rotate", ["--json"]],
  ] as const)("%s %j prints the new key, prints it once, and only on stdout", async (command, form) => {
    const { keyId } = await issueApiKey("acme");
    const key = command === "rotate" ? ["--key", keyId] : [];
    const { stdout, stderr } = await keys(command, ...acme, ...key, ...form);
    const [apiKey = "", ...others] = stdout.match(/lck_\w+/g) ?? [];
    expect(await findApiKey(apiKey)).toMatchObject({ accountId: "acme" });
    expect(others).toEqual([]);
    expect(stdout.split(apiKey.split("_")[2] ?? "")).toHaveLength(2);
    expect(stderr).not.toMatch(/lck_/);
    expect(stdout + stderr).not.toContain(parseApiKey(apiKey)?.sha256);
  });
});

test.each([
  ["revoked", { revokedAt: after(-1) }],
  ["expired", { validUntil: after(0) }],
] as const)("a key that is %s cannot be rotated: no new one is issued", async (state, end) => {
  const { keyId } = await issueApiKey("acme");
  await endApiKey({ account: "acme", keyId }, end);
  expect(await keys("rotate", ...acme, "--key", keyId)).toMatchObject({
    code: 1,
    stderr: `The key ${keyId} is ${state}: issue a new one instead, with \`npm run ops -- keys issue --account acme --table unit\`.\n`,
  });
  expect(await listApiKeys("acme")).toHaveLength(1);
});

test("the command ends the key itself when other items with its id are in the index of the account's keys", async () => {
  const { apiKey, keyId } = await issueApiKey("acme");
  const decoys = [leadKey("acme", "0"), conversationKey("acme", "~")];
  for (const key of decoys)
    put({ ...key, byParent: accountApiKeysPartition("acme"), keyId, accountId: "acme" });
  const listed = await keys("list", ...acme, "--json");
  expect(JSON.parse(listed.stdout).map((key: { keyId: string }) => key.keyId)).toEqual([keyId]);
  expect(listed.stderr).toMatch(/lists 2 items that are not keys, such as \["(?:LEAD|CONVERSATION)#/);
  const rotated = await keys("rotate", ...acme, "--key", keyId, "--json");
  expect(JSON.parse(rotated.stdout).replaced.keyId).toBe(keyId);
  expect((await keys("revoke", ...acme, "--key", keyId)).stdout).toBe(`The key ${keyId} is revoked.\n`);
  expect(await findApiKey(apiKey)).toBe("revoked");
  for (const key of decoys) expect(await readItem(key)).not.toHaveProperty("revokedAt");
});

test("the command changes nothing when two keys have the same id, unless the whole key is named", async () => {
  const { apiKey, keyId } = await issueApiKey("acme");
  const twin = { ...apiKeyKey("f".repeat(64), keyId), byParent: accountApiKeysPartition("acme") };
  put({ ...twin, keyId, accountId: "acme", createdAt: after(0) });
  for (const command of ["list", "revoke", "rotate"]) {
    const named = command === "list" ? [] : ["--key", keyId];
    const { code, stdout, stderr } = await keys(command, ...acme, ...named);
    expect([command, code, stdout]).toEqual([command, 1, ""]);
    expect(stderr).toContain(`two keys with the id ${keyId}`);
  }
  expect(await findApiKey(apiKey)).toMatchObject({ keyId });
  expect((await keys("revoke", "--key", apiKey)).code).toBe(0);
  expect(await findApiKey(apiKey)).toBe("revoked");
});

test.each([
  [[], (stdout: string) => stdout.trim()],
  [["--json"], (stdout: string) => stdout && JSON.parse(stdout).issued.apiKey],
])("a rotation that is killed ends no key without a new one, and prints that one, with %j", async (form, newKey) => {
  const kills = await killAtEachWrite(async (kill) => {
    const { keyId, apiKey } = await issueApiKey("acme");
    const before = await listApiKeys("acme");
    let failed = { stdout: "", stderr: "" };
    await kill(async () => {
      failed = await keys("rotate", ...acme, "--key", keyId, ...form);
    });
    expect(await findApiKey(apiKey)).toMatchObject({ keyId });
    if (failed.stdout === "") expect(await listApiKeys("acme")).toEqual(before);
    else expect(await findApiKey(newKey(failed.stdout))).toMatchObject({ accountId: "acme" });
    if (failed.stdout !== "" && failed.stderr.includes("killed"))
      expect(failed.stderr).toContain(
        `The new key is issued, but the end of the key ${keyId} could not be set: killed. When the new key is in use, run \`npm run ops -- keys revoke --key ${keyId} --account acme --table unit\`.`,
      );
    expect((await keys("rotate", ...acme, "--key", keyId)).code).toBe(0);
  });
  expect(kills).toBe(2);
});

test("a key whose first response is lost is issued once", async () => {
  // The SDK makes the same call again.
  using _ = aroundCalls((command, send) => send(command).then(() => send(command)));
  const { apiKey, keyId } = await issueApiKey("acme");
  expect(await findApiKey(apiKey)).toMatchObject({ keyId });
  expect([...memory.items()]).toHaveLength(1);
});
