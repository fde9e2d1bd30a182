import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, test } from "vitest";
import { engineClient } from "../../../../lib/local/engine/dynamodb-client.ts";
import type { LocalRun } from "../../../../lib/local/local-run.ts";
import { leadItem } from "../../../../shared/domain/leads.ts";
import { countNodeKey } from "../../../../shared/dynamodb/keys.ts";
import { createdAt, newId } from "../../../../shared/ids.ts";
import { limits } from "../../../../shared/pages/tree/tree-limits.ts";
import { request } from "../../../support/api.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { issueKey, startRun } from "../support/run.ts";

const account = "acme";

const start = (dataDirectory: string, streams = true) =>
  startRun(dataDirectory, { streams, maxEnvironments: 3 });

/** Stores leads that were created at a time: those before the allowed lateness are counted at once. */
async function storeLeads(
  { tableName, dynamodbEndpoint }: LocalRun,
  count: number,
  time: number,
): Promise<void> {
  const client = DynamoDBDocumentClient.from(engineClient(dynamodbEndpoint));
  for (let n = 0; n < count; n++) {
    const id = newId("lead", time);
    const lead = { id, name: "Ada", score: 0, status: "new", tags: [], createdAt: createdAt(id) } as const;
    const Item = leadItem(account, { ...lead, tags: [] });
    await client.send(new PutCommand({ TableName: tableName, Item }));
  }
  client.destroy();
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

/** The newest lead, once the list has as many leads. On a busy machine, the first requests may fail. */
async function newestLead(run: LocalRun, apiKey: string, total: number) {
  const list = () => request(run, "list-leads", { apiKey, query: "limit=1" });
  await expect.poll(async () => (await list()).body.pagination?.total).toBe(total);
  return (await list()).body.data[0]?.id;
}

describe.skipIf(process.env.DYNAMODB_ENDPOINT)("the table's stream", () => {
  test("has leads counted, and those of a run without the stream in the next run", async () => {
    const directory = await temporaryDirectory();
    const first = await start(directory);
    const apiKey = await issueKey(first, account);
    await storeLeads(first, 10, Date.now() - 2 * limits.allowedLateness);
    const newest = await newestLead(first, apiKey, 10);
    await expect.poll(() => readWatermark(first)).toSatisfy((at) => at > `${newest}`);
    const { body } = await request(first, "list-leads", { apiKey, query: "limit=7&page=2" });
    expect(body.data).toHaveLength(3);
    await first.stop();
    const stopped = Date.now();
    // On a busy machine the rate limiter may fail open, and the first requests may be too slow.
    const slow = /failed open|did not load|code: 'busy'/;
    const faults = first.log.filter((line) => /failed|denied|cannot/i.test(line) && !slow.test(line));
    expect(faults).toEqual([]);

    const without = await start(directory, false);
    // The earliest time that is not before the watermark of the first run.
    await storeLeads(without, 5, stopped - limits.allowedLateness);
    const missed = await newestLead(without, apiKey, 15);
    expect(await readWatermark(without)).toSatisfy((at) => at <= `${missed}`);
    await without.stop();
    expect(without.log.filter((line) => line.includes("[maintain-counts]"))).toEqual([]);

    const again = await start(directory);
    await expect.poll(() => readWatermark(again)).toSatisfy((at) => at > `${missed}`);
    await newestLead(again, apiKey, 15);
  });
});
