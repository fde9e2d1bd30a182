import { realpath } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { engineClient } from "../../lib/local/dynamodb-client.ts";
import { type LocalRun, startLocal } from "../../lib/local/local-run.ts";
import { countNodeKey } from "../../shared/keys.ts";
import { request } from "../support/api.ts";
import { temporaryDirectory } from "./support/stack.ts";

const account = "acme";

/** Starts the whole service on an engine of its own. */
async function start(dataDirectory: string, streams = true) {
  const log: string[] = [];
  const run = await startLocal({
    dataDirectory,
    templateDirectory: inject("engine").assembly,
    throttling: false,
    maxEnvironments: 3,
    streams,
    log: (line) => log.push(line),
  });
  onTestFinished(() => run.stop());
  return { ...run, log };
}

/** A key of the account; the modules of the API take the table's name and address once, so only one run can give it. */
async function issueKey({ tableName, dynamodbEndpoint }: LocalRun): Promise<string> {
  Object.assign(process.env, { TABLE_NAME: tableName, AWS_ENDPOINT_URL_DYNAMODB: dynamodbEndpoint });
  const { issueApiKey } = await import("../../shared/api-keys.ts");
  return (await issueApiKey(account)).apiKey;
}

/** Creates leads one after the other: many cold functions at once would be too much for a busy machine. */
async function createLeads(run: LocalRun, apiKey: string, count: number): Promise<void> {
  for (let created = 0; created < count; created++) {
    const { status } = await request(run, "create-lead", {
      apiKey,
      body: { name: "Ada", source: "website" },
    });
    expect(status).toBe(201);
  }
}

/** Where the counted leads end; undefined as long as there is no root. */
async function countedThrough({ tableName, dynamodbEndpoint }: LocalRun): Promise<string | undefined> {
  const client = engineClient(dynamodbEndpoint);
  const { pk, sk } = countNodeKey("lead", account, "root");
  const Key = { pk: { S: pk }, sk: { S: sk } };
  const { Item } = await client.send(new GetItemCommand({ TableName: tableName, Key }));
  client.destroy();
  return Item?.through?.S;
}

async function newestLead(run: LocalRun, apiKey: string, total: number) {
  const { body } = await request(run, "list-leads", { apiKey, query: "limit=1" });
  expect(body.pagination.total).toBe(total);
  return body.data[0]?.id;
}

describe.skipIf(process.env.DYNAMODB_ENDPOINT)("the table's stream", () => {
  test("has leads counted once they have settled, and those of a time when it was left out later", async () => {
    const directory = await realpath(await temporaryDirectory());
    const first = await start(directory);
    const apiKey = await issueKey(first);
    await createLeads(first, apiKey, 40);
    const settled = await newestLead(first, apiKey, 40);
    await expect.poll(() => countedThrough(first), { timeout: 20_000 }).toSatisfy((at) => at > `${settled}`);
    expect((await request(first, "list-leads", { apiKey, query: "limit=7&page=6" })).body.data).toHaveLength(
      5,
    );
    await first.stop();
    expect(first.log.filter((line) => /failed|denied|cannot/i.test(line))).toEqual([]);

    const without = await start(directory, false);
    await createLeads(without, apiKey, 30);
    const missed = await newestLead(without, apiKey, 70);
    await setTimeout(1000);
    expect(await countedThrough(without)).toSatisfy((at) => at <= `${missed}`);
    await without.stop();
    expect(without.log.filter((line) => line.includes("[maintain-counts]"))).toEqual([]);

    const again = await start(directory);
    await expect.poll(() => countedThrough(again), { timeout: 20_000 }).toSatisfy((at) => at > `${missed}`);
    await newestLead(again, apiKey, 70);
    await again.stop();

    const idle = await start(directory);
    await setTimeout(1500);
    expect(idle.log).toEqual([]);
  }, 90_000);
});
