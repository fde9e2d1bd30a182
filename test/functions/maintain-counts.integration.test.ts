import { randomUUID } from "node:crypto";
import { BatchWriteCommand, DeleteCommand, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { DynamoDBRecord } from "aws-lambda";
import { ulid } from "ulid";
import { afterEach, describe, expect, test, vi } from "vitest";
import { handler } from "../../functions/maintain-counts.ts";
import { setLeadScore, setLeadStatus } from "../../lib/ops/leads/lead-changes.ts";
import { leadItem } from "../../shared/domain/leads.ts";
import { conversationKey, leadKey } from "../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../shared/dynamodb/table-client.ts";
import { filteredRange } from "../../shared/pages/read/counted-range.ts";
import { countedLists } from "../../shared/pages/tree/counted-list.ts";
import { countEntries } from "../../shared/pages/tree/entry.ts";
import { readRoot } from "../../shared/pages/tree/tree-store.ts";
import { call } from "../support/call.ts";
import { lambdaContext } from "../support/events.ts";
import { aLead } from "../support/requests.ts";
import { streamRecord } from "../support/stream-record.ts";

type Item = Record<string, unknown>;

afterEach(() => void vi.restoreAllMocks());

/** Writes leads old enough to be counted, as an import does, and returns their items. */
async function importLeads(account: string, count: number, source?: string): Promise<Item[]> {
  const items = Array.from({ length: count }, (_, i) => {
    const id = `lead_${ulid(Date.now() - 60_000 + i)}`;
    const createdAt = "2026-01-01T00:00:00.000Z";
    const lead = { id, name: "x", score: 0, tags: [], createdAt };
    return leadItem(account, { ...lead, status: "new", ...(source !== undefined && { source }) });
  });
  for (let from = 0; from < count; from += 25) {
    const requests = items.slice(from, from + 25).map((Item) => ({ PutRequest: { Item } }));
    await table.send(new BatchWriteCommand({ RequestItems: { [tableName]: requests } }));
  }
  return items;
}

/** Rejects the table calls that `fails` selects with an error of this name. */
function failCalls(name: string, fails: (command: object) => boolean): void {
  const send = table.send.bind(table) as (command: object) => Promise<unknown>;
  const sendOrFail = async (command: object) => {
    if (fails(command)) throw Object.assign(new Error("failed"), { name });
    return send(command);
  };
  vi.spyOn(table, "send").mockImplementation(sendOrFail as unknown as typeof table.send);
}

const deliver = (records: DynamoDBRecord[], remaining = 60_000) =>
  handler({ Records: records }, lambdaContext(remaining));

async function countedLeads(account: string): Promise<number> {
  const root = await readRoot({ account, list: countedLists.lead });
  return root ? countEntries([...root.entries, ...root.last]) : 0;
}

describe("maintain-counts", () => {
  test("counts leads that were created, deleted or changed in status", async () => {
    const account = randomUUID();
    const leads = await importLeads(account, 200);
    expect(await deliver(leads.map((lead) => streamRecord(undefined, lead)))).toEqual({
      batchItemFailures: [],
    });
    expect(await countedLeads(account)).toBe(200);

    const [first = {}, second = {}] = leads;
    await table.send(new DeleteCommand({ TableName: tableName, Key: { pk: first.pk, sk: first.sk } }));
    await setLeadStatus(account, String(second.id), "booked", Date.now() + 5000);
    await deliver([streamRecord(first, undefined), streamRecord(second, { ...second, status: "booked" })]);
    expect(await countedLeads(account)).toBe(199);
    for (const [query, total] of [
      ["", 199],
      ["status=new", 198],
      ["status=booked", 1],
      ["status=qualified", 0],
      ["source=nobodys", 0],
      ["page=5&limit=40", 199],
    ] as const) {
      const { body } = await call("list-leads", { account, query });
      expect(body.pagination.total, query).toBe(total);
    }
  });

  test("counts the leads of a source in a tree of their own, once they are many", async () => {
    const account = randomUUID();
    const leads = await importLeads(account, 200, "web");
    const { tree } = filteredRange(account, countedLists.lead, { sourceOrChannel: "web" });
    const created = Date.now() - 60_000;
    await deliver(leads.map((lead) => streamRecord(undefined, lead, created)));
    const [last = {}] = leads.slice(-1);
    const { watermark = "" } = (await readRoot(tree)) ?? {};
    expect(watermark > String(last.sk)).toBe(true);

    const [first = {}, second = {}] = leads;
    await table.send(new DeleteCommand({ TableName: tableName, Key: { pk: first.pk, sk: first.sk } }));
    await setLeadStatus(account, String(second.id), "booked", Date.now() + 5000);
    await deliver([streamRecord(first, undefined), streamRecord(second, { ...second, status: "booked" })]);
    for (const [query, total] of [
      ["source=web", 199],
      ["source=web&status=new", 198],
      ["source=web&status=booked", 1],
      ["source=web&page=5&limit=40", 199],
      ["source=other", 0],
    ] as const) {
      const { body } = await call("list-leads", { account, query });
      expect(body.pagination.total, query).toBe(total);
    }
  });

  test("makes no call for changes that no count depends on", async () => {
    const send = vi.spyOn(table, "send");
    const conversation = {
      ...conversationKey("a", "conv_1"),
      status: "active",
      channel: "web",
      messageCount: 1,
    };
    const message = streamRecord(conversation, { ...conversation, messageCount: 2 });
    const lead = { ...leadKey("a", "lead_1"), status: "new", score: 1 };
    const node = streamRecord(undefined, { pk: "COUNT#a#LEAD", sk: "root" });
    const other = streamRecord(undefined, { pk: "LEAD#a#new", sk: "lead_1" });
    expect(await deliver([message, streamRecord(lead, { ...lead, score: 2 }), node, other])).toEqual({
      batchItemFailures: [],
    });
    expect(send).not.toHaveBeenCalled();
  });

  test("reports the records of every list that failed and counts the others", async () => {
    const [broken, alsoBroken, whole] = [randomUUID(), randomUUID(), randomUUID()];
    const leads = [];
    for (const account of [broken, whole, alsoBroken]) leads.push(...(await importLeads(account, 20)));
    failCalls("ValidationException", (command) =>
      [broken, alsoBroken].some((account) => JSON.stringify(command).includes(account)),
    );
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    const records = leads.map((lead) => streamRecord(undefined, lead));
    const { batchItemFailures } = await deliver(records);
    expect(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier).sort()).toEqual(
      [...records.slice(0, 20), ...records.slice(40)].map(({ dynamodb }) => dynamodb?.SequenceNumber).sort(),
    );
    const line = { event: "counts failed", list: "lead", name: "ValidationException" };
    expect(logged.mock.calls.flat()).toHaveLength(2);
    for (const account of [broken, alsoBroken])
      expect(logged).toHaveBeenCalledWith(expect.objectContaining({ ...line, account }));
    expect(await countedLeads(whole)).toBe(20);
  });

  test("reports the whole batch when conflicts last until its time is used up", async () => {
    const account = randomUUID();
    const leads = await importLeads(account, 20);
    failCalls("TransactionConflictException", (command) => command instanceof PutCommand);
    vi.spyOn(console, "error").mockImplementation(() => {});
    const { batchItemFailures } = await deliver(
      leads.map((lead) => streamRecord(undefined, lead)),
      5300,
    );
    expect(batchItemFailures).toHaveLength(20);
  });
});

test("a list with a long tail is exact on every page of it", async () => {
  const account = randomUUID();
  const imported = await importLeads(account, 30);
  await deliver(imported.map((lead) => streamRecord(undefined, lead)));
  const young: string[] = [];
  for (let i = 0; i < 150; i++) young.push((await aLead(account)).id);
  const all = [...imported.map(({ id }) => String(id)), ...young].sort().reverse();
  for (const page of [1, 2, 8, 9]) {
    const { body } = await call("list-leads", { account, query: `page=${page}` });
    expect(body.pagination.total).toBe(180);
    expect(body.data.map(({ id }) => id)).toEqual(all.slice((page - 1) * 20, page * 20));
  }
});

describe("an operator's change of a lead", () => {
  const soon = () => Date.now() + 5000;

  test("moves it in every list and changes nothing else", async () => {
    const account = randomUUID();
    const lead = await aLead(account, { source: "web" });
    expect(await setLeadStatus(account, lead.id, "booked", soon())).toEqual({ ...lead, status: "booked" });
    expect(await setLeadScore(account, lead.id, 80, soon())).toEqual({
      ...lead,
      status: "booked",
      score: 80,
    });
    for (const [query, total] of [
      ["status=new", 0],
      ["status=new&source=web", 0],
      ["status=booked", 1],
      ["status=booked&source=web", 1],
      ["source=web", 1],
    ] as const) {
      expect((await call("list-leads", { account, query })).body.data, query).toHaveLength(total);
    }
  });

  test("changes nothing for another account's lead", async () => {
    const lead = await aLead("owner-of-lead");
    expect(await setLeadStatus("stranger", lead.id, "booked", soon())).toBeUndefined();
    expect(await setLeadScore("stranger", "lead_x", 1, soon())).toBeUndefined();
  });

  test("is retried after a conflict", async () => {
    const account = randomUUID();
    const lead = await aLead(account);
    let updates = 0;
    failCalls(
      "TransactionConflictException",
      (command) => command instanceof UpdateCommand && ++updates === 1,
    );
    expect(await setLeadScore(account, lead.id, 7, soon())).toMatchObject({ score: 7 });
    expect(updates).toBe(2);
  });
});
