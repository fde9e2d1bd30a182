import { DeleteCommand, PutCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, describe, expect, test, vi } from "vitest";
import { handler } from "../../../functions/maintain-counts.ts";
import { rebuild } from "../../../lib/ops/counts/rebuild.ts";
import { verify } from "../../../lib/ops/counts/verify.ts";
import { countNodeKey, nodePrefix } from "../../../shared/dynamodb/keys.ts";
import { tableName } from "../../../shared/dynamodb/table-client.ts";
import { maintain } from "../../../shared/pages/maintain/maintain.ts";
import { maintainLists } from "../../../shared/pages/maintain/maintain-lists.ts";
import { countedLists } from "../../../shared/pages/tree/counted-list.ts";
import { limits } from "../../../shared/pages/tree/tree-limits.ts";
import { readRoot } from "../../../shared/pages/tree/tree-store.ts";
import { canceled } from "../../support/cancellation.ts";
import { lambdaContext } from "../../support/events.ts";
import { putLeads, useMemoryTable } from "../../support/memory-leads.ts";
import type { MemoryTable } from "../../support/memory-table.ts";
import { rowChanges } from "../../support/row-changes.ts";
import { smallLimits } from "../../support/small-limits.ts";
import { streamRecord } from "../../support/stream-record.ts";

const owner = { account: "acme", list: countedLists.lead };
const wait = async () => {};
const options = { deadline: Number.POSITIVE_INFINITY, limits: smallLimits, wait };
const keysOf = (items: readonly { sk: string }[]) => items.map(({ sk }) => sk);
const nodes = (memory: MemoryTable) =>
  [...memory.items()].filter(({ sk }) => String(sk).startsWith(nodePrefix));

afterEach(() => void vi.restoreAllMocks());

test.each([
  ["conflicts with another", () => canceled("None", "TransactionConflict")],
  ["fails for its condition", () => canceled("ConditionalCheckFailed", "None")],
])("a maintainer repeats a commit that %s", async (_, createError) => {
  let failures = 2;
  const memory = useMemoryTable(async (command, send) => {
    if (command instanceof TransactWriteCommand && failures-- > 0) throw createError();
    return send(command);
  });
  const items = await putLeads(memory, "acme", 60);
  await maintain(owner, keysOf(items), options);
  expect(failures).toBeLessThan(0);
  expect(nodes(memory).length).toBeGreaterThan(0);
  expect(await verify(owner, { wait })).toEqual([]);
});

test("a maintainer starts again when a node of its tree is gone", async () => {
  let replace = async () => {};
  const memory = useMemoryTable(async (command, send) => {
    const { Key } = Reflect.get(command, "input") as { Key?: { sk: string } };
    if (Key?.sk.startsWith(nodePrefix)) {
      const once = replace;
      replace = async () => {};
      await once();
    }
    return send(command);
  });
  const items = await putLeads(memory, "acme", 60);
  await maintain(owner, keysOf(items), options);
  const before = keysOf(nodes(memory) as { sk: string }[]);
  replace = () => rebuild(owner, { limits: smallLimits, wait });
  await memory.send(new DeleteCommand({ TableName: tableName, Key: { pk: items[5]?.pk, sk: items[5]?.sk } }));
  await maintain(owner, keysOf(items.slice(5, 6)), options);
  const { pk } = countNodeKey("lead", "acme", "");
  expect([...memory.items()].filter((item) => item.pk === pk && before.includes(String(item.sk)))).toEqual(
    [],
  );
  expect(await verify(owner, { wait })).toEqual([]);
});

test("rebuilds leave the nodes of the old tree to readers for a minute", async () => {
  const memory = useMemoryTable();
  await maintain(owner, keysOf(await putLeads(memory, "acme", 60)), options);
  const before = keysOf(nodes(memory) as { sk: string }[]);
  const waits: number[] = [];
  await rebuild(owner, {
    limits: smallLimits,
    wait: async (milliseconds) => {
      waits.push(milliseconds);
      expect(keysOf(nodes(memory) as { sk: string }[])).toEqual(expect.arrayContaining(before));
    },
  });
  expect(Math.max(...waits)).toBeGreaterThanOrEqual(60_000);
  expect(keysOf(nodes(memory) as { sk: string }[]).filter((sk) => before.includes(sk))).toEqual([]);
});

test("all reads of a maintainer and of a rebuild are consistent", async () => {
  const reads: unknown[] = [];
  const memory = useMemoryTable((command, send) => {
    const { ConsistentRead, KeyConditionExpression = "" } = Reflect.get(command, "input") as {
      ConsistentRead?: boolean;
      KeyConditionExpression?: string;
    };
    // The search for old nodes may miss some.
    const search = KeyConditionExpression.includes("begins_with");
    if (/^(Get|Query)/.test(command.constructor.name) && !search) reads.push(ConsistentRead);
    return send(command);
  });
  const items = await putLeads(memory, "acme", 60);
  await maintain(owner, keysOf(items), options);
  await maintain(owner, keysOf(items.slice(3, 20)), options);
  await rebuild(owner, { limits: smallLimits, wait });
  expect(reads.length).toBeGreaterThan(10);
  expect(new Set(reads)).toEqual(new Set([true]));
});

test("one commit counts a changed row and the tail, if both fit", async () => {
  const memory = useMemoryTable();
  const items = await putLeads(memory, "acme", 60);
  await maintain(owner, keysOf(items), options);
  const before = await readRoot(owner);
  const tail = await putLeads(memory, "acme", 4, 300_000);
  const [first] = items;
  await memory.send(new PutCommand({ TableName: tableName, Item: { ...first, status: "booked" } }));
  await maintain(owner, [String(first?.sk), ...keysOf(tail)], options);
  const after = await readRoot(owner);
  expect(after?.version).toBe((before?.version ?? 0) + 1);
  expect(String(after?.watermark) > String(tail.at(-1)?.sk)).toBe(true);
  expect(await verify(owner, { wait })).toEqual([]);
});

test("no commit has more items than a transaction takes", async () => {
  let largest = 0;
  const memory = useMemoryTable((command, send) => {
    if (command instanceof TransactWriteCommand) {
      largest = Math.max(largest, command.input.TransactItems?.length ?? 0);
    }
    return send(command);
  });
  const { commitNodes, transactionNodes } = limits;
  const small = { ...smallLimits, commitNodes, transactionNodes };
  const items = await putLeads(memory, "acme", 3000);
  await maintain(owner, keysOf(items.slice(0, 1500)), { ...options, limits: small });
  for (const item of items) {
    await memory.send(new PutCommand({ TableName: tableName, Item: { ...item, status: "booked" } }));
  }
  await maintain(owner, keysOf(items), { ...options, limits: small });
  expect(largest).toBeGreaterThan(40);
  // With the root.
  expect(transactionNodes + 1).toBeLessThanOrEqual(100);
  expect(commitNodes).toBeLessThan(transactionNodes);
  expect(largest).toBeLessThanOrEqual(100);
  expect(await verify(owner, { wait })).toEqual([]);
});

describe("after a burst", () => {
  const changes = (keys: readonly string[]) => [{ owner, rows: rowChanges(keys) }];

  test("a maintainer counts the rows when they have settled", async () => {
    const memory = useMemoryTable();
    const items = await putLeads(memory, "acme", 20, 1000);
    const waits: number[] = [];
    const later = async (milliseconds: number) => {
      waits.push(milliseconds);
      vi.setSystemTime(Date.now() + milliseconds);
    };
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      expect(await maintainLists(changes(keysOf(items)), { ...options, wait: later })).toEqual([]);
      expect(waits).toEqual([1000, smallLimits.allowedLateness - 1000]);
      const root = [...memory.items()].find(({ sk }) => sk === "root");
      expect(String(root?.watermark) > (items.at(-1)?.sk ?? "")).toBe(true);
    } finally {
      vi.useRealTimers();
    }
  });

  test("a maintainer does not wait past its deadline", async () => {
    const memory = useMemoryTable();
    const items = await putLeads(memory, "acme", 20, 1000);
    const deadline = Date.now() + 3000;
    const waits = vi.fn(wait);
    await maintainLists(changes(keysOf(items)), { ...options, deadline, wait: waits });
    expect(waits).not.toHaveBeenCalled();
  });
});

test("maintain-counts reports the records of every list that failed", async () => {
  const memory = useMemoryTable(async (command, send) => {
    if (command.constructor.name === "GetCommand") throw new Error("failed");
    return send(command);
  });
  const leads = [await putLeads(memory, "acme", 2), await putLeads(memory, "other", 2)].flat();
  const Records = leads.map((lead) => streamRecord(undefined, lead));
  const response = await handler({ Records }, lambdaContext(60_000));
  expect(response).toEqual({
    batchItemFailures: Records.map(({ dynamodb }) => ({ itemIdentifier: dynamodb?.SequenceNumber })),
  });
});

test("rows are counted when no write of a route can land any more", () => {
  // A second attempt starts within two seconds and takes one; clocks differ by at most two.
  expect(limits.allowedLateness).toBeGreaterThanOrEqual(2000 + 1000 + 2000);
  expect(limits.skew).toBeGreaterThanOrEqual(2000);
  expect(limits.skew).toBeLessThan(limits.allowedLateness);
});
