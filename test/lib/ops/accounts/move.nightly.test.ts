import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, expect, test, vi } from "vitest";
import { createClient } from "../../../../docs/client/client.ts";
import { selectEngineTable } from "../../../../lib/local/engine/dynamodb-client.ts";
import { startLocal } from "../../../../lib/local/local-run.ts";
import { ShownPace } from "../../../../lib/ops/command/select-table.ts";
import { seeded } from "../../../support/cases/random.ts";
import { filePath, readLines } from "../../../support/commands/lead-files.ts";
import { startFakeMeta, type Taken } from "../../../support/requests/fake-meta.ts";
import { engineEndpoint } from "../../../support/setup/engine-endpoint.ts";
import { synthesizeAssembly } from "../../../support/stack/assembly.ts";
import { temporaryDirectory } from "../../../support/stack/temporary-directory.ts";
import { tableItems } from "../../../support/tables/table-items.ts";
import { program } from "../support/program.ts";

// A waiting delivery is retried every 15 minutes on AWS, and here every five seconds.
vi.mock(import("../../../../lib/local/streams/local-queues.ts"), async (load) => {
  const { openLocalQueues } = await load();
  const open: typeof openLocalQueues = (...args) => {
    const queues = openLocalQueues(...args);
    const ChangeMessageVisibility: typeof queues.ChangeMessageVisibility = (input) =>
      queues.ChangeMessageVisibility({ ...input, VisibilityTimeout: Math.min(5, input.VisibilityTimeout) });
    return { ...queues, ChangeMessageVisibility };
  };
  return { openLocalQueues: open };
});

const data = await temporaryDirectory("move-", afterAll);
const meta = await startFakeMeta("secret");
const token = "EAAG".repeat(5);
const secrets = { "channels/app-secret": "secret", "channels/whatsapp/106540352242922/token": token };

async function startStage(stage: string) {
  const tableName = `${stage}-${randomUUID()}`;
  const settings = { channels: true, authorizerCacheSeconds: 1, rateLimitRequests: 0 };
  const dataDirectory = join(data, stage);
  const outdir = join(data, `${stage}-stack`);
  const run = await startLocal({
    templateDirectory: await synthesizeAssembly({ outdir, tableName, settings }),
    ...{ dataDirectory, dynamodbEndpoint: engineEndpoint, log: () => {} },
    environment: { GRAPH_URL: meta.url },
  });
  afterAll(() => run.stop());
  await writeFile(join(dataDirectory, "secrets.json"), JSON.stringify(secrets));
  const env = { DATA_DIR: dataDirectory };
  const argsOf = (line: string) => [...line.split(" "), "--account", "acme", "--local", "--json"];
  return {
    ...run,
    async ops(line: string, input = "") {
      const { code, stdout, stderr } = await program(argsOf(line), { env, input });
      // With exit code 3, a pass has left out new items, which the next pass copies.
      expect([0, 3], `${line}: ${stderr}`).toContain(code);
      return JSON.parse(stdout);
    },
    /** Ends a command by `kill -9` when a condition holds. */
    async kill(line: string, isReached: () => Promise<boolean>) {
      const options = { env: { ...process.env, ...env }, cwd: join(import.meta.dirname, "../../../..") };
      const child = spawn(process.execPath, ["bin/ops.ts", ...argsOf(line)], options);
      const exit = once(child, "exit");
      while (child.exitCode === null && !(await isReached())) await setTimeout(10);
      child.kill("SIGKILL");
      expect(await exit).toEqual([null, "SIGKILL"]);
    },
    async items() {
      selectEngineTable(engineEndpoint, tableName);
      return [...(await tableItems()).values()];
    },
  };
}
type Stage = Awaited<ReturnType<typeof startStage>>;

const from = await startStage("from");
const to = await startStage("to");

let domain = from.url;
const refusals: { readonly at: number; readonly name: string }[] = [];
const random = seeded(64);

/** Sends a request to the stage that the domain points to. A tenth of the responses are lost. */
async function fetchByDomain(url: string | URL | Request, init?: RequestInit) {
  const { pathname, search } = new URL(String(url));
  const response = await fetch(domain + pathname + search, init);
  const body = await response.text();
  if (!response.ok) refusals.push({ at: Date.now(), name: `${response.status} ${JSON.parse(body).code}` });
  if (random() < 0.1) throw new TypeError("The response is lost.");
  return new Response(body, response);
}

/** The passes of the copy, with what they cost. */
const passes: object[] = [];
async function copy(...options: string[]) {
  const spend = vi.spyOn(ShownPace.prototype, "spend");
  const start = Date.now();
  const { stored, present, replaced, left } = await to.ops(
    ["accounts copy --from-table", from.tableName, ...options].join(" "),
  );
  const units = Math.round(spend.mock.calls.reduce((sum, [used]) => sum + used, 0));
  spend.mockRestore();
  passes.push({ seconds: (Date.now() - start) / 1000, units, stored, present, replaced, left });
  return left;
}

const exported = async (stage: Stage) => {
  const path = filePath(".jsonl");
  await stage.ops(`accounts export --output ${path}`);
  // A lead that was changed between the passes has the time of the copy.
  return (await readLines(path)).map(({ updatedAt, ...line }) => line);
};

const messages = async (stage: Stage) =>
  (await stage.items()).filter(({ pk }) => String(pk).startsWith("MESSAGE#acme#"));
const isDelivered = async (stage: Stage) => (await messages(stage)).every(({ delivery }) => delivery);

test("ten clients that retry see no error except 503 while their account moves, and each message is sent once", async () => {
  const { apiKey } = await from.ops("keys issue");
  await from.ops("channels connect --channel whatsapp --sender 106540352242922", token);
  const wait = (milliseconds: number) => setTimeout(Math.min(milliseconds, 500));
  const client = createClient({ url: "http://domain", key: apiKey, fetch: fetchByDomain, wait, within: 6e5 });
  const made = new Map<string, readonly string[]>();
  let isOver = false;
  const post = async (idempotencyKey: string, number: string) => {
    const body = { name: idempotencyKey, addresses: { whatsapp: [number] } };
    const { id: leadId } = await client.createLead(body, { idempotencyKey });
    // Meta refuses a busy message twice, so that some wait when the account is frozen.
    const message = `${idempotencyKey} ${idempotencyKey.endsWith("1") ? "busy" : ""}`;
    const { id } = await client.sendMessage({ leadId, channel: "whatsapp", message }, { idempotencyKey });
    return [leadId, id, number];
  };
  const traffic = [...Array(10).keys()].map(async (n) => {
    for (let i = 0; !isOver; i++) {
      const number = String(49_151_000_000 + 10_000 * n + i);
      meta.windows.add(number);
      made.set(`${n}-${i}`, await post(`${n}-${i}`, number));
      await setTimeout(100);
    }
  });
  await expect.poll(() => made.size).toBeGreaterThan(100);
  const line = `accounts copy --units 150 --from-table ${from.tableName} --keys`;
  await to.kill(line, async () => (await to.items()).length > 50);
  await copy("--keys");
  await from.ops("accounts freeze --cache-seconds 1");
  const copied = (await to.items()).length;
  await to.kill(`${line} --replace --yes`, async () => (await to.items()).length > copied);
  expect(await copy("--keys", "--replace", "--yes")).toBe(0);
  expect(await exported(to)).toEqual(await exported(from));
  await to.ops("counts verify");
  expect((await client.listLeads()).pagination.total).toBeGreaterThan(100);
  const waiting = (await messages(from)).filter(({ delivery }) => !delivery).map(({ id }) => id);
  expect(waiting).not.toEqual([]);
  [domain, meta.webhook] = [to.url, `${to.url}/webhook`];
  for (const { keyId } of await from.ops("keys list")) await from.ops(`keys revoke --yes --key ${keyId}`);
  await from.ops("accounts unfreeze");
  await expect.poll(() => isDelivered(from), { timeout: 120_000 }).toBe(true);
  // Meta reports to the new stage before it knows that the message was sent.
  const reported = meta.taken.find(({ callbackData }) => callbackData?.endsWith(` ${waiting[0]}`));
  await meta.report(reported as Taken, "delivered");
  expect(await copy()).toBe(0);
  isOver = true;
  await Promise.all(traffic);
  await expect.poll(() => isDelivered(to)).toBe(true);
  expect((await messages(to)).find(({ id }) => id === waiting[0])).toMatchObject({ delivery: "delivered" });
  const texts = (await messages(to)).map(({ message }) => message);
  expect(meta.taken.map(({ text }) => text).sort()).toEqual(texts.sort());
  expect(texts.length).toBe(made.size);
  for (const [key, ids] of made) expect(await post(key, String(ids[2]))).toEqual(ids);
  for (const list of [client.listLeads, client.listConversations])
    expect((await list()).pagination.total).toBe(made.size);
  // A busy machine adds its own 5xx, which clients also retry.
  for (const { name } of refusals) expect(name).toMatch(/^5/);
  const frozen = refusals.filter(({ name }) => name === "503 account_frozen").map(({ at }) => at);
  const seconds = (Number(frozen.at(-1)) - Number(frozen[0])) / 1000;
  console.log({ seconds, frozen: frozen.length, refusals: refusals.length, made: made.size }, passes);
}, 600_000);
