import { randomUUID } from "node:crypto";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import type { DynamoDBRecord } from "aws-lambda";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { handler as maintainCounts } from "../../../../functions/maintain-counts.ts";
import { deliverBatch } from "../../../../lib/local/streams/batch-delivery.ts";
import { leadItem } from "../../../../shared/domain/leads.ts";
import { table, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { createdAt, newId } from "../../../../shared/ids.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { readRoot } from "../../../../shared/pages/tree/tree-store.ts";
import { lambdaContext } from "../../../support/events.ts";
import { stack } from "../../../support/role-check.ts";
import { streamRecord } from "../../../support/stream-record.ts";

const [source] = stack.eventSources;
if (!source) throw new Error("The template has no reader of the counts.");

let logged: Record<string, unknown>[];
beforeEach(() => {
  logged = [];
  vi.spyOn(console, "error").mockImplementation((line) => void logged.push(line));
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test("a list that cannot be counted holds back no other of its batch, and those behind it for a minute", async () => {
  const accounts = [randomUUID(), randomUUID(), randomUUID()] as const;
  const records: DynamoDBRecord[] = [];
  for (const account of accounts)
    for (let n = 0; n < 20; n++) {
      const id = newId("lead", Date.now() - 60_000 + n);
      const lead = { id, name: "x", score: 0, status: "new" as const, tags: [], createdAt: createdAt(id) };
      const item = leadItem(account, lead);
      await table.send(new PutCommand({ TableName: tableName, Item: item }));
      // The stream is late: how old a change is does not tell how long it has failed.
      records.push(streamRecord(undefined, item, Date.now() - 3_600_000));
    }
  const send = table.send.bind(table) as (command: object) => Promise<never>;
  vi.spyOn(table, "send").mockImplementation(async (command: object) => {
    if (JSON.stringify(command).includes(`COUNT#${accounts[1]}`)) throw new TypeError("on purpose");
    return send(command);
  });
  const roots = () =>
    Promise.all([accounts[0], accounts[2]].map((account) => readRoot({ account, list: countedLists.lead })));
  let calls = 0;
  const discarded: DynamoDBRecord[] = [];
  const startedAt = Date.now();
  // With the template's settings; pauses take no time.
  await deliverBatch(records, {
    ...{ source, startedAt, now: Date.now, signal: new AbortController().signal },
    invoke: async (batch) => {
      const response = await maintainCounts({ Records: [...batch] }, lambdaContext());
      if (calls++ === 0) expect(await roots()).not.toContain(undefined);
      return response;
    },
    onDiscarded: (some) => discarded.push(...some),
    delay: async (milliseconds) => vi.setSystemTime(Date.now() + milliseconds),
  });
  const seconds = (Date.now() - startedAt) / 1000;
  expect(seconds).toBeGreaterThan(50);
  expect(seconds).toBeLessThan(90);
  expect(discarded).toEqual([]);
  const line = { account: accounts[1], list: "lead", name: "TypeError" };
  expect(logged.at(-1)).toMatchObject({ event: "counts given up", ...line });
  expect(logged.slice(0, -1).every(({ event }) => event === "counts failed")).toBe(true);
});
