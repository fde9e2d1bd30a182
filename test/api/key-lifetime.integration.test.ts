import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { request, startApi } from "../support/api.ts";
import { synthesizeAssembly } from "../support/assembly.ts";

/** What the README says of 60 seconds, with fewer. */
const authorizerCacheSeconds = 3;
const ttl = authorizerCacheSeconds * 1000;

/** What a request may take, and the next look at it, in milliseconds. */
const slack = 2000;

const outdir = await mkdtemp(join(tmpdir(), "key-lifetime-"));
afterAll(() => rm(outdir, { recursive: true }));
await synthesizeAssembly({
  outdir,
  tableName: String(process.env.TABLE_NAME),
  context: { authorizerCacheSeconds },
  bundles: join(inject("engine").assembly, "bundles"),
});
const api = await startApi({ templateDirectory: outdir });
// Loads the functions, which would take up some of the times below.
beforeAll(async () => {
  await admitted((await api.issueKey(randomUUID())).apiKey);
});

const soon = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();
const statusOf = async (apiKey: string) => (await request(api, "list-leads", { apiKey })).status;

/** When the key is refused for the first time, in milliseconds by `performance.now()`. */
async function refusedAt(apiKey: string): Promise<number> {
  while ((await statusOf(apiKey)) === 200) await setTimeout(50);
  return performance.now();
}

/** The key is asked for the first time: from then on its answer is kept. */
async function admitted(apiKey: string): Promise<{ from: number; to: number }> {
  const from = performance.now();
  expect(await statusOf(apiKey)).toBe(200);
  return { from, to: performance.now() };
}

async function expectRefusedInTime(apiKey: string, asked: { from: number; to: number }) {
  const at = await refusedAt(apiKey);
  expect(at - asked.from).toBeGreaterThanOrEqual(ttl);
  expect(at - asked.to).toBeLessThan(ttl + slack);
  expect(await statusOf(apiKey)).toBe(403);
}

test("a revoked key works on until the authorizer's answer has been kept for its time, and no longer", async () => {
  const account = randomUUID();
  const { apiKey, keyId } = await api.issueKey(account);
  const asked = await admitted(apiKey);
  await (await api.keys()).endApiKey(account, keyId, { revokedAt: soon(0) });
  expect(await statusOf(apiKey)).toBe(200);
  await expectRefusedInTime(apiKey, asked);
});

test("a key that expires while its answer is kept works on until then, and no longer", async () => {
  const validUntil = soon(1500);
  const { apiKey } = await api.issueKey(randomUUID(), { validUntil });
  const asked = await admitted(apiKey);
  await setTimeout(Date.parse(validUntil) + 100 - Date.now());
  expect(await statusOf(apiKey)).toBe(200);
  await expectRefusedInTime(apiKey, asked);
});

test("a key that nobody has used lately is refused as soon as it is revoked or has expired", async () => {
  const account = randomUUID();
  const revoked = await api.issueKey(account);
  await (await api.keys()).endApiKey(account, revoked.keyId, { revokedAt: soon(0) });
  const expiring = await api.issueKey(account, { validUntil: soon(500) });
  expect(await statusOf(revoked.apiKey)).toBe(403);
  await setTimeout(550);
  expect(await statusOf(expiring.apiKey)).toBe(403);
});
