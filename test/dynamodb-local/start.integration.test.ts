import { randomUUID } from "node:crypto";
import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { limits } from "../../shared/pages/tree/tree-limits.ts";
import { startConnector } from "../lib/local/support/connector.ts";
import { signalProcess, startCommand, untilServing } from "../lib/local/support/process.ts";
import { temporaryDirectory } from "../lib/local/support/stack.ts";
import { request } from "../support/api.ts";
import { compareEvent } from "../support/document.ts";
import { engineEndpoint } from "../support/engine-endpoint.ts";
import { ops } from "../support/ops.ts";

/** More than a list leaves uncounted. */
const leadCount = limits.tail + 4;

/** Starts the command on the engine; it ends with the test. */
async function start(dataDirectory: string, eventsUrl: string) {
  const env = {
    DYNAMODB_ENDPOINT: engineEndpoint,
    DATA_DIR: dataDirectory,
    PORT: "0",
    EVENTS_URL: eventsUrl,
  };
  const started = startCommand(env);
  onTestFinished(async () => {
    signalProcess(started.pid, "SIGTERM");
    await started.ended;
  });
  await untilServing(started);
  expect(started.output()).toContain(`Its data is in the DynamoDB at ${engineEndpoint}.`);
  return JSON.parse(await readFile(join(dataDirectory, "run.json"), "utf8")) as { url: string };
}

test.runIf(process.env.DYNAMODB_ENDPOINT)(
  "npm start on another engine serves the API, delivers its events and counts by its stream",
  {
    timeout: 300_000,
  },
  async () => {
    const dataDirectory = await realpath(await temporaryDirectory());
    const connector = await startConnector(() => 200);
    const run = await start(dataDirectory, connector.url);
    const account = randomUUID();
    const command = async (...args: string[]) => {
      const outcome = await ops([...args, "--account", account, "--local", "--json"], { dataDirectory });
      expect(outcome).toMatchObject({ code: 0, stderr: "" });
      return JSON.parse(outcome.stdout);
    };
    const { apiKey } = await command("keys", "issue");

    const ids: string[] = [];
    for (let n = 0; n < leadCount; n++) {
      const body = { name: "Ada Lovelace", email: "ada@example.com", source: n % 2 ? "fair" : "website" };
      const created = await request(run, "create-lead", { apiKey, body });
      expect(created.status).toBe(201);
      ids.unshift(created.body.id);
    }
    const list = async (query: string) => {
      const { body } = await request(run, "list-leads", { apiKey, query });
      return { ids: body.data.map(({ id }) => id), total: body.pagination.total };
    };
    expect(await list("")).toEqual({ ids, total: leadCount });
    const fromFair = ids.filter((_, n) => n % 2 === 0);
    const secondPage = { ids: fromFair.slice(3, 6), total: fromFair.length };
    expect(await list("source=fair&limit=3&page=2")).toEqual(secondPage);

    const body = { leadId: ids[0], channel: "whatsapp", message: "Hello Ada" };
    const headers = { "idempotency-key": "hello" };
    const sent = await request(run, "send-message", { apiKey, body, headers });
    expect(sent.status).toBe(201);
    expect((await request(run, "send-message", { apiKey, body, headers })).body).toEqual(sent.body);
    const conversations = await request(run, "list-conversations", { apiKey, query: "channel=whatsapp" });
    expect(conversations.body).toMatchObject({
      data: [{ id: sent.body.conversationId, leadId: ids[0], status: "active", messageCount: 1 }],
      pagination: { total: 1 },
    });

    // The engine's stream also has the events of earlier runs.
    const delivered = () =>
      [...connector.delivered.values()].filter(({ detail }) => detail.account === account);
    const expected = [...ids, sent.body.id, sent.body.conversationId].sort();
    await expect
      .poll(() =>
        delivered()
          .map(({ detail }) => detail.id)
          .sort(),
      )
      .toEqual(expected);
    expect(delivered().flatMap(compareEvent)).toEqual([]);

    const counted = async () => (await command("counts", "status"))[0].counted;
    await expect.poll(counted).toBeGreaterThanOrEqual(leadCount - limits.tail);
    await command("leads", "set-status", "--lead", ids[1] ?? "", "--status", "booked");
    await expect.poll(() => list("status=booked")).toEqual({ ids: [ids[1]], total: 1 });
    expect((await list("status=new")).total).toBe(leadCount - 1);
    expect(await command("counts", "verify")).toEqual([]);
  },
);
