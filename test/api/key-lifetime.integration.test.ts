import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import { endApiKey } from "../../lib/ops/keys/api-key-changes.ts";
import { request, startApi } from "../support/api.ts";
import { synthesizeAssembly } from "../support/assembly.ts";

/** The stack caches for 60 seconds; a shorter time keeps the test fast. */
const authorizerCacheSeconds = 3;
const ttl = authorizerCacheSeconds * 1000;

/** How late a refusal may be noticed, in milliseconds. */
const tolerance = 2000;

const outdir = await mkdtemp(join(tmpdir(), "key-lifetime-"));
afterAll(() => rm(outdir, { recursive: true }));
await synthesizeAssembly({
  outdir,
  tableName: String(process.env.TABLE_NAME),
  settings: { authorizerCacheSeconds },
  bundles: join(inject("engine").assembly, "bundles"),
});
const api = await startApi({ templateDirectory: outdir });
// Loads the functions, so that cold starts do not use up the times below. On a busy machine, the first requests may fail.
beforeAll(async () => {
  const { apiKey } = await api.issueKey(randomUUID());
  await vi.waitFor(async () => expect(await requestStatus(apiKey)).toBe(200), 60_000);
});

const soon = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();
const requestStatus = async (apiKey: string) => (await request(api, "list-leads", { apiKey })).status;

/** Polls until the key is refused. @returns that time, by `performance.now()` */
async function refusedAt(apiKey: string): Promise<number> {
  while ((await requestStatus(apiKey)) === 200) await setTimeout(50);
  return performance.now();
}

/** Uses the key for the first time: from then on the authorizer's response is cached. */
async function firstUse(apiKey: string): Promise<{ from: number; to: number }> {
  const from = performance.now();
  expect(await requestStatus(apiKey)).toBe(200);
  return { from, to: performance.now() };
}

async function expectRefusedInTime(apiKey: string, used: { from: number; to: number }) {
  const at = await refusedAt(apiKey);
  expect(at - used.from).toBeGreaterThanOrEqual(ttl);
  expect(at - used.to).toBeLessThan(ttl + tolerance);
  expect(await requestStatus(apiKey)).toBe(403);
}

test("a revoked key works until the authorizer's cached response expires, and no longer", async () => {
  const account = randomUUID();
  const { apiKey, keyId } = await api.issueKey(account);
  const used = await firstUse(apiKey);
  await endApiKey({ account, keyId }, { revokedAt: soon(0) });
  expect(await requestStatus(apiKey)).toBe(200);
  await expectRefusedInTime(apiKey, used);
});

test("a key that expires while the authorizer's response is cached works until the cache expires, and no longer", async () => {
  const validUntil = soon(1500);
  const { apiKey } = await api.issueKey(randomUUID(), { validUntil });
  const used = await firstUse(apiKey);
  await setTimeout(Date.parse(validUntil) + 100 - Date.now());
  expect(await requestStatus(apiKey)).toBe(200);
  await expectRefusedInTime(apiKey, used);
});

test("a key that is not cached is refused as soon as it is revoked or has expired", async () => {
  const account = randomUUID();
  const revoked = await api.issueKey(account);
  await endApiKey({ account, keyId: revoked.keyId }, { revokedAt: soon(0) });
  const expiring = await api.issueKey(account, { validUntil: soon(500) });
  expect(await requestStatus(revoked.apiKey)).toBe(403);
  await setTimeout(550);
  expect(await requestStatus(expiring.apiKey)).toBe(403);
});
