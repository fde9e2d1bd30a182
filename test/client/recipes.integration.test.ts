import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { type Client, createClient, type Lead } from "../../docs/client/client.ts";
import { findOrCreateLead, syncLeads } from "../../docs/client/recipes.ts";
import { createLead, startApi } from "../support/api.ts";
import { createDataDirectory, ops } from "../support/ops.ts";
import { noteSent } from "../support/sent.ts";

/** The leads of a day, by each of those who write. */
const leads = Number(process.env.DAY_LEADS ?? 20);

const timeout = 300_000 + 300 * leads;

/** On a busy machine, functions give up calls of a second, and the client or an import gives up after them. */
const retry = { count: 3, condition: /^Gave up after|^No lead is created: 503|DynamoDB is busy/ };

const api = await startApi({ streams: true, maxEnvironments: 4 });
const dataDirectory = await createDataDirectory(api.tableName);

async function newAccount() {
  const account = randomUUID();
  const { apiKey } = await api.issueKey(account);
  noteSent(apiKey);
  return { account, apiKey, client: createClient({ url: api.url, key: apiKey }) };
}

/** Works on numbers from 0, a few at once. */
async function inParallel(count: number, work: (n: number) => Promise<unknown>): Promise<void> {
  const numbers = Array.from({ length: count }, (_, n) => n).values();
  const worker = async () => {
    for (const n of numbers) await work(n);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

/** Another writer of the account. @returns the ids of its leads */
async function writeOthers(apiKey: string): Promise<string[]> {
  const ids: string[] = [];
  await inParallel(leads, async (n) => {
    const body = { name: `Other ${n}`, ...(n % 2 === 0 && { email: `other-${n}@example.com` }) };
    ids.push(await createLead(api, apiKey, body));
  });
  return ids;
}

/** An operator imports leads, the oldest of them from a time. */
async function importLeads(account: string, oldest: number): Promise<void> {
  const file = join(dataDirectory, `${account}.jsonl`);
  const rows = Array.from({ length: leads }, (_, n) => ({
    name: `Imported ${n}`,
    createdAt: new Date(oldest + n).toISOString(),
  }));
  await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const { code, stderr } = await ops(
    ["leads", "import", file, "--account", account, "--local", "--rate", "50"],
    {
      dataDirectory,
    },
  );
  expect(code, stderr).toBe(0);
}

/** Waits until all leads of the account are counted or in the tail, and an import's, the oldest ones, are counted. */
async function untilCounted(account: string, total: number): Promise<void> {
  const countedOrInTail = async () => {
    const args = ["counts", "status", "--account", account, "--local", "--json"];
    const { stdout } = await ops(args, { dataDirectory });
    const [{ counted, tail }] = JSON.parse(stdout);
    return counted >= leads && counted + tail;
  };
  await expect.poll(countedOrInTail, { interval: 500 }).toBe(total);
}

async function allLeads(client: Client): Promise<Map<string, Lead>> {
  const found = new Map<string, Lead>();
  for await (const { data } of client.leadPages()) for (const lead of data) found.set(lead.id, lead);
  return found;
}

test("forms that look an address up and send it with a key create each lead once", {
  timeout,
  retry,
}, async () => {
  const { account, apiKey, client } = await newAccount();
  const submitted: { readonly address: string; readonly id: string }[] = [];
  const submit = async (n: number, form: number) => {
    const email = form === 1 ? `Form-${n}@Example.com` : `form-${n}@example.com`;
    const lead = { name: form === 2 ? `Ada ${n}` : "Ada", email };
    noteSent(lead);
    const { id } = await findOrCreateLead(client, lead);
    submitted.push({ address: email.toLowerCase(), id });
  };
  // Twice at the same moment, and once more with another name and then later.
  const forms = inParallel(leads, async (n) => {
    await Promise.all([submit(n, 0), submit(n, n % 5 === 0 ? 2 : 0)]);
    await submit(n, 1);
  });
  await Promise.all([forms, writeOthers(apiKey), importLeads(account, Date.now() - 60_000)]);
  await untilCounted(account, 3 * leads);
  const stored = [...(await allLeads(client)).values()];
  const byAddress = Map.groupBy(stored, ({ email }) => email?.toLowerCase());
  byAddress.delete(undefined);
  const doubles = [...byAddress.values()].filter((some) => some.length > 1);
  expect(doubles).toEqual([]);
  expect(stored).toHaveLength(3 * leads);
  expect(submitted).toHaveLength(3 * leads);
  for (const { address, id } of submitted) expect(byAddress.get(address)?.[0]?.id, address).toBe(id);
});

test("a synchronization by windows misses no lead of the routes, and an import's after one more", {
  timeout,
  retry,
}, async () => {
  const { account, apiKey, client } = await newAccount();
  const start = new Date().toISOString();
  const received = new Set<string>();
  const store = async (some: readonly Lead[]) => {
    for (const { id } of some) received.add(id);
  };
  let since = start;
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const loop = (async () => {
    while (!stop.signal.aborted) {
      since = await syncLeads(client, since, store);
      await setTimeout(500);
    }
  })();
  // Its failure is noticed below.
  loop.catch(() => {});
  const [created] = await Promise.all([
    writeOthers(apiKey),
    // Its rows come to windows that have been read.
    setTimeout(3000).then(() => importLeads(account, Date.parse(start))),
  ]);
  const written = new Date();
  while (since <= written.toISOString()) await Promise.race([loop, setTimeout(500)]);
  stop.abort();
  await loop;
  expect(created.filter((id) => !received.has(id))).toEqual([]);
  await untilCounted(account, 2 * leads);
  await syncLeads(client, start, store);
  expect(received).toEqual(new Set((await allLeads(client)).keys()));
  expect(received.size).toBe(2 * leads);
});
