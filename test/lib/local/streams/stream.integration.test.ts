import { setTimeout } from "node:timers/promises";
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { describe, expect, test } from "vitest";
import { engineClient } from "../../../../lib/local/engine/dynamodb-client.ts";
import type { LocalRun } from "../../../../lib/local/local-run.ts";
import { countNodeKey } from "../../../../shared/dynamodb/keys.ts";
import { limits } from "../../../../shared/pages/tree/tree-limits.ts";
import { request } from "../../../support/api.ts";
import { issueKey, startRun } from "../support/run.ts";
import { temporaryDirectory } from "../support/stack.ts";

const account = "acme";

const start = (dataDirectory: string, streams = true) =>
  startRun(dataDirectory, { streams, maxEnvironments: 3 });

/** Creates leads one after the other: many concurrent cold starts would overload a busy machine. */
async function createLeads(run: LocalRun, apiKey: string, count: number): Promise<void> {
  for (let created = 0; created < count; created++) {
    const { status } = await request(run, "create-lead", {
      apiKey,
      body: { name: "Ada", source: "website" },
    });
    expect(status).toBe(201);
  }
}

/** The watermark of the counted leads; undefined while there is no root. */
async function readWatermark({ tableName, dynamodbEndpoint }: LocalRun): Promise<string | undefined> {
  const client = engineClient(dynamodbEndpoint);
  const { pk, sk } = countNodeKey("lead", account, "root");
  const Key = { pk: { S: pk }, sk: { S: sk } };
  const { Item } = await client.send(new GetItemCommand({ TableName: tableName, Key }));
  client.destroy();
  return Item?.watermark?.S;
}

async function newestLead(run: LocalRun, apiKey: string, total: number) {
  const { body } = await request(run, "list-leads", { apiKey, query: "limit=1" });
  expect(body.pagination.total).toBe(total);
  return body.data[0]?.id;
}

describe.skipIf(process.env.DYNAMODB_ENDPOINT)("the table's stream", () => {
  test("has leads counted after the allowed lateness, and those of a run without the stream in the next run", async () => {
    const directory = await temporaryDirectory();
    const first = await start(directory);
    const apiKey = await issueKey(first, account);
    await createLeads(first, apiKey, 40);
    const newest = await newestLead(first, apiKey, 40);
    await expect.poll(() => readWatermark(first)).toSatisfy((at) => at > `${newest}`);
    expect((await request(first, "list-leads", { apiKey, query: "limit=7&page=6" })).body.data).toHaveLength(
      5,
    );
    await first.stop();
    // On a busy machine the rate limiter may fail open.
    const faults = first.log.filter(
      (line) => /failed|denied|cannot/i.test(line) && !line.includes("failed open"),
    );
    expect(faults).toEqual([]);

    const without = await start(directory, false);
    await createLeads(without, apiKey, 30);
    const missed = await newestLead(without, apiKey, 70);
    // Until all of them are old enough: the next run then counts them at once.
    await setTimeout(limits.allowedLateness + 1000);
    expect(await readWatermark(without)).toSatisfy((at) => at <= `${missed}`);
    await without.stop();
    expect(without.log.filter((line) => line.includes("[maintain-counts]"))).toEqual([]);

    const again = await start(directory);
    await expect.poll(() => readWatermark(again)).toSatisfy((at) => at > `${missed}`);
    await newestLead(again, apiKey, 70);
    await again.stop();

    const idle = await start(directory);
    await setTimeout(1500);
    expect(idle.log).toEqual([]);
  }, 90_000);
});
