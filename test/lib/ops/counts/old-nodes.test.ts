import {
  BatchWriteCommand,
  type BatchWriteCommandInput,
  DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
} from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, test, vi } from "vitest";
import { deleteOldNodes } from "../../../../lib/ops/counts/rebuild.ts";
import { nodeName } from "../../../../shared/dynamodb/keys.ts";
import { Pace } from "../../../../shared/dynamodb/pace.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { emptyRoot, rootItem } from "../../../../shared/pages/tree/root.ts";
import { mockClient } from "../../../support/mocked-client.ts";

const table = mockClient(DynamoDBDocumentClient);
vi.spyOn(Math, "random").mockReturnValue(0.5);

const generation = 2;
const owner = { account: "a", list: countedLists.lead };
const oldNodes = Array.from({ length: 60 }, (_, i) => nodeName(1, 1, `lead_${i}`));

type Requests = NonNullable<BatchWriteCommandInput["RequestItems"]>[string];

beforeEach(() => {
  table.reset();
  table.on(GetCommand).resolves({ Item: rootItem({ ...emptyRoot(generation), version: 1 }) });
  const nodes = [nodeName(3, 1, ""), ...oldNodes, nodeName(generation, 1, "")];
  table.on(QueryCommand).resolves({ Items: nodes.map((sk) => ({ sk })) });
});

/** Deletes items in a fake table. `process` is how many requests of the next batch it processes. */
async function run(process: (batch: number) => number) {
  const deleted: string[] = [];
  const waits: number[] = [];
  let batch = 0;
  table.on(BatchWriteCommand).callsFake(({ RequestItems }: { RequestItems: Record<string, Requests> }) => {
    const requests = RequestItems.unit ?? [];
    const processed = process(++batch);
    deleted.push(...requests.slice(0, processed).map(({ DeleteRequest }) => String(DeleteRequest?.Key?.sk)));
    const rest = requests.slice(processed);
    return { UnprocessedItems: rest.length > 0 ? { unit: rest } : {} };
  });
  await deleteOldNodes(owner, new Pace(undefined, async (milliseconds) => waits.push(milliseconds)));
  const sizes = table
    .commandCalls(BatchWriteCommand)
    .map(({ args: [{ input }] }) => input.RequestItems?.unit?.length);
  return { deleted, waits, sizes };
}

test("the nodes of older trees are deleted in batches of 25", async () => {
  expect(await run(() => 25)).toEqual({ deleted: oldNodes, waits: [], sizes: [25, 25, 10] });
});

test("unprocessed items are retried with backoff, and none is lost", async () => {
  const processed = [10, 0, 5, 25];
  const { deleted, waits, sizes } = await run((batch) => processed[batch - 1] ?? 25);
  expect(deleted).toEqual(oldNodes);
  expect(sizes).toEqual([25, 15, 15, 10, 25, 10]);
  expect(waits).toEqual([100, 200, 400]);
});

test("a throttled batch is retried as a whole", async () => {
  const throttled = Object.assign(new Error("Rate exceeded"), { name: "ThrottlingException" });
  const { deleted, waits, sizes } = await run((batch) => {
    if (batch === 1) throw throttled;
    return 25;
  });
  expect(deleted).toEqual(oldNodes);
  expect({ waits, sizes }).toEqual({ waits: [100], sizes: [25, 25, 25, 10] });
});
