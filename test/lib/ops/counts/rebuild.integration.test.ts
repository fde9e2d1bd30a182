import { randomUUID } from "node:crypto";
import { PutCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { ulid } from "ulid";
import { afterEach, expect, test, vi } from "vitest";
import { rebuild } from "../../../../lib/ops/counts/rebuild.ts";
import { verify } from "../../../../lib/ops/counts/verify.ts";
import { leadKey } from "../../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { readRoot } from "../../../../shared/pages/tree/tree-store.ts";
import { smallLimits as limits } from "../../../support/small-limits.ts";

afterEach(() => void vi.restoreAllMocks());

const named = (name: string) => Object.assign(new Error("failed"), { name });
const wait = async () => {};

/** Creates an account with leads that are not counted yet. */
async function uncountedLeads(count: number) {
  const owner = { account: randomUUID(), list: countedLists.lead };
  for (let i = 0; i < count; i++) {
    const id = `lead_${ulid(Date.UTC(2026, 0, 1) + i * 1000)}`;
    const Item = { ...leadKey(owner.account, id), id, status: "new", source: "web" };
    await table.send(new PutCommand({ TableName: tableName, Item }));
  }
  return owner;
}

/** Replaces `table.send`. */
function interceptCalls(
  intercept: (command: object, send: () => Promise<unknown>) => Promise<unknown>,
): void {
  const send = table.send.bind(table) as (command: object) => Promise<unknown>;
  const intercepted = (command: object) => intercept(command, () => send(command));
  vi.spyOn(table, "send").mockImplementation(intercepted as unknown as typeof table.send);
}

test("rebuild and verify survive throttling", async () => {
  const owner = await uncountedLeads(60);
  let calls = 0;
  interceptCalls(async (_, send) => {
    // A step makes several calls, so that not every second call may fail.
    if (++calls % 9 === 0) throw named("ThrottlingException");
    return send();
  });
  let rows = 0;
  const onRows = (read: number) => {
    rows += read;
  };
  await rebuild(owner, { limits, wait });
  expect(await verify(owner, { limits, wait, onRows })).toEqual([]);
  expect(rows).toBe(60);
});

test("a rebuild ends when the response of its last commit is lost", async () => {
  const owner = await uncountedLeads(20);
  const start = Date.now();
  let lost = 0;
  interceptCalls(async (command, send) => {
    const response = await send();
    const isLast =
      command instanceof TransactWriteCommand && JSON.stringify(command.input).includes("Delete");
    if (!isLast) return response;
    lost += 1;
    throw named("TimeoutError");
  });
  await rebuild(owner, { limits, wait });
  expect(lost).toBe(1);
  expect(await readRoot(owner, "next")).toBeUndefined();
  expect((await readRoot(owner))?.generation).toBeGreaterThan(start);
});

test("two rebuilds at once count into the same tree, and both end", async () => {
  const owner = await uncountedLeads(60);
  const commits = new Set<unknown>();
  interceptCalls(async (command, send) => {
    if (command instanceof TransactWriteCommand) commits.add(command.input.TransactItems?.[0]?.Put?.Item?.sk);
    return send();
  });
  await Promise.all([rebuild(owner, { limits, wait }), rebuild(owner, { limits, wait })]);
  expect(await readRoot(owner)).toMatchObject({ rebuilding: undefined });
  expect(await readRoot(owner, "next")).toBeUndefined();
  expect(await verify(owner, { limits, wait })).toEqual([]);
});
