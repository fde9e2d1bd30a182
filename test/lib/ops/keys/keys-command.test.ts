import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { endApiKey, issueApiKey, listApiKeys } from "../../../../lib/ops/keys/api-key-changes.ts";
import { keysCommand } from "../../../../lib/ops/keys/keys-command.ts";
import { parseApiKey } from "../../../../shared/domain/api-key-format.ts";
import { findApiKey } from "../../../../shared/domain/api-keys.ts";
import { MemoryTable } from "../../../support/memory-table.ts";

const now = Date.UTC(2026, 0, 1);
const hour = 3_600_000;
const after = (milliseconds: number) => new Date(now + milliseconds).toISOString();

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now });
  // The command selects a client of its own.
  vi.spyOn(DynamoDBDocumentClient.prototype, "send").mockImplementation(new MemoryTable().send as never);
});
afterEach(() => void vi.useRealTimers());

/** Runs `keys …` on the table in memory. @returns all that it prints */
async function print(command: string, ...args: readonly string[]): Promise<string> {
  const printed: string[] = [];
  for (const method of ["log", "error"] as const)
    vi.spyOn(console, method).mockImplementation((text: string) => void printed.push(text));
  const yes = command === "revoke" || command === "rotate" ? ["--yes"] : [];
  await keysCommand().parseAsync([command, ...args, ...yes, "--table", "unit"], { from: "user" });
  return printed.join("\n");
}

/** The same with `--json`. @returns what it prints, parsed */
const run = async (command: string, ...args: readonly string[]) =>
  JSON.parse(await print(command, ...args, "--json"));

const acme = ["--account", "acme"];

test("a key has full access forever, unless the options say otherwise", async () => {
  const { apiKey, ...record } = await run("issue", ...acme);
  expect(record).toEqual({
    keyId: expect.any(String),
    accountId: "acme",
    access: "full",
    createdAt: after(0),
  });
  expect(await findApiKey(apiKey)).toEqual({ accountId: "acme", keyId: record.keyId, access: "full" });
  const reader = await run("issue", ...acme, "--access", "read", "--valid-for", "12h", "--label", "CI");
  expect(reader).toMatchObject({ access: "read", validUntil: after(12 * hour), label: "CI" });
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
  expect((await listApiKeys("acme")).map(({ keyId }) => keyId).sort()).toEqual(
    [old.keyId, issued.keyId].sort(),
  );
});

test("rotate never extends a key", async () => {
  const old = await issueApiKey("acme", { validUntil: after(hour) });
  const { replaced } = await run("rotate", ...acme, "--key", old.keyId, "--overlap", "2h");
  expect(replaced.validUntil).toBe(after(hour));
});

test("revoke ends a key at once, and again changes nothing", async () => {
  const { keyId, apiKey } = await issueApiKey("acme");
  expect(await run("revoke", ...acme, "--key", keyId)).toMatchObject({ keyId, revokedAt: after(0) });
  expect(await findApiKey(apiKey)).toBeUndefined();
  vi.setSystemTime(now + hour);
  await expect(run("revoke", ...acme, "--key", keyId)).rejects.toThrow(
    `The key ${keyId} was already revoked at ${after(0)}.`,
  );
  expect(await listApiKeys("acme")).toMatchObject([{ revokedAt: after(0) }]);
});

test.each([
  "revoke",
  "rotate",
])("%s does not find a key under the name of another account", async (command) => {
  const { keyId, apiKey } = await issueApiKey("acme");
  await issueApiKey("other");
  for (const key of [keyId, apiKey])
    await expect(run(command, "--account", "other", "--key", key)).rejects.toThrow(
      `The account other has no key ${keyId}: see `,
    );
  expect(await findApiKey(apiKey)).toMatchObject({ accountId: "acme" });
  expect(await listApiKeys("other")).toHaveLength(1);
});

test.each([
  ["list", []],
  ["list", ["--json"]],
  ["revoke", ["--dry-run"]],
  ["revoke", ["--dry-run", "--json"]],
  ["rotate", ["--dry-run"]],
  ["rotate", ["--dry-run", "--json"]],
  ["revoke", []],
  ["revoke", ["--json"]],
] as const)("%s %j prints nothing of a key's item but its record", async (command, form) => {
  const { apiKey, keyId } = await issueApiKey("acme", { label: "CI" });
  const text = await print(command, ...acme, ...(command === "list" ? [] : ["--key", keyId]), ...form);
  expect(text).toContain(keyId);
  for (const hidden of [parseApiKey(apiKey)?.sha256, "KEY#", "byParent", ...apiKey.split("_").slice(2)])
    expect(text).not.toContain(hidden);
});

test.each([
  ["revoked", { revokedAt: after(-1) }],
  ["expired", { validUntil: after(0) }],
] as const)("a key that is %s cannot be rotated: no new one is issued", async (state, end) => {
  const { keyId } = await issueApiKey("acme");
  await endApiKey({ account: "acme", keyId }, end);
  await expect(run("rotate", ...acme, "--key", keyId)).rejects.toThrow(
    `The key ${keyId} is ${state}: issue a new one instead, with \`npm run ops -- keys issue --account acme --table unit\`.`,
  );
  expect(await listApiKeys("acme")).toHaveLength(1);
});
