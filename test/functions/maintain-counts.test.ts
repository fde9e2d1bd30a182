import { DeleteCommand, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { DynamoDBRecord } from "aws-lambda";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { handler } from "../../functions/maintain-counts.ts";
import { setLeadScore, setLeadStatus } from "../../lib/ops/leads/lead-changes.ts";
import { leadItem } from "../../shared/domain/leads.ts";
import { conversationKey, leadKey } from "../../shared/dynamodb/keys.ts";
import { tableName } from "../../shared/dynamodb/table-client.ts";
import { createdAt, newId } from "../../shared/ids.ts";
import { filteredRange } from "../../shared/pages/read/counted-range.ts";
import { countedLists } from "../../shared/pages/tree/counted-list.ts";
import { countEntries } from "../../shared/pages/tree/entry.ts";
import { readRoot } from "../../shared/pages/tree/tree-store.ts";
import type { Lead } from "../../shared/schemas/lead-schemas.ts";
import { call } from "../support/call.ts";
import { lambdaContext } from "../support/events.ts";
import { aLead } from "../support/requests.ts";
import { streamRecord } from "../support/stream-record.ts";
import { WatchedTable } from "../support/watched-table.ts";

const account = "acme";
let table: WatchedTable;
beforeEach(() => {
  table = new WatchedTable();
});
afterEach(() => void vi.restoreAllMocks());

type LeadItem = ReturnType<typeof leadItem>;

const put = (item: LeadItem) => {
  table.memory.execute(new PutCommand({ TableName: tableName, Item: item }));
  return item;
};

/** Writes leads old enough to be counted, as an import does, and returns their items. */
const importLeads = (count: number, { source, of = account }: { source?: string; of?: string } = {}) =>
  Array.from({ length: count }, (_, i) => {
    const id = newId("lead", Date.now() - 60_000 + i);
    const lead: Lead = { id, name: "x", score: 0, status: "new", tags: [], createdAt: createdAt(id) };
    return put(leadItem(of, { ...lead, ...(source !== undefined && { source }) }));
  });

const deliver = (records: DynamoDBRecord[], remaining = 60_000) =>
  handler({ Records: records }, lambdaContext(remaining));

const created = (leads: readonly LeadItem[]) => leads.map((lead) => streamRecord(undefined, lead));

async function countedLeads(of: string): Promise<number> {
  const root = await readRoot({ account: of, list: countedLists.lead });
  return root ? countEntries([...root.entries, ...root.last]) : 0;
}

async function expectTotals(totals: Readonly<Record<string, number>>): Promise<void> {
  for (const [query, total] of Object.entries(totals))
    expect([query, (await call("list-leads", { account, query })).body.pagination.total]).toEqual([
      query,
      total,
    ]);
}

test.each([
  undefined,
  "web",
])("counts leads that were created, deleted or changed in status: source %s", async (source) => {
  const leads = importLeads(200, { ...(source && { source }) });
  const time = Date.now() - 60_000;
  const records = leads.map((lead) => streamRecord(undefined, lead, time));
  expect(await deliver(records)).toEqual({ batchItemFailures: [] });
  expect(await countedLeads(account)).toBe(200);
  if (source) {
    // Once its leads are many, a source has a tree of its own.
    const { tree } = filteredRange(account, countedLists.lead, { sourceOrChannel: source });
    const { watermark = "" } = (await readRoot(tree)) ?? {};
    expect(watermark > String(leads.at(-1)?.sk)).toBe(true);
  }
  const [first, second] = leads as [LeadItem, LeadItem];
  table.memory.execute(new DeleteCommand({ TableName: tableName, Key: leadKey(account, first.id) }));
  await setLeadStatus(account, second.id, "booked", Date.now() + 5000);
  await deliver([streamRecord(first, undefined), streamRecord(second, { ...second, status: "booked" })]);
  expect(await countedLeads(account)).toBe(199);
  const all = source ? `source=${source}` : "";
  await expectTotals({
    [all]: 199,
    [`${all}&status=new`]: 198,
    [`${all}&status=booked`]: 1,
    [`${all}&page=5&limit=40`]: 199,
    "source=nobodys": 0,
  });
});

test("counts every changed row of a batch of more than a thousand", async () => {
  const leads = importLeads(1100);
  await deliver(created(leads));
  const booked = leads.map((lead) => {
    const { pk, sk, byStatus, ...record } = lead;
    return put(leadItem(account, { ...record, status: "booked" }));
  });
  const moved = leads.map((lead, i) => streamRecord(lead, booked[i]));
  expect(await deliver(moved)).toEqual({ batchItemFailures: [] });
  await expectTotals({ "status=new": 0, "status=booked": 1100, "": 1100 });
});

test("makes no call for changes that no count depends on", async () => {
  const conversation = {
    ...conversationKey("a", "conv_1"),
    status: "active",
    channel: "web",
    messageCount: 1,
  };
  const lead = { ...leadKey("a", "lead_1"), status: "new", score: 1 };
  const records = [
    streamRecord(conversation, { ...conversation, messageCount: 2 }),
    streamRecord(lead, { ...lead, score: 2 }),
    streamRecord(undefined, { pk: "COUNT#a#LEAD", sk: "root" }),
    streamRecord(undefined, { pk: "LEAD#a#new", sk: "lead_1" }),
  ];
  expect(await deliver(records)).toEqual({ batchItemFailures: [] });
  expect(table.calls).toEqual([]);
});

test("reports the records of every list that failed, logs them, and counts the others", async () => {
  const accounts = ["broken", "whole", "also-broken"];
  const records = created(accounts.flatMap((of) => importLeads(20, { of })));
  table.before = (command) => {
    if (JSON.stringify(command).includes("broken"))
      throw Object.assign(new Error("failed"), { name: "AccessDeniedException" });
  };
  const logged = vi.spyOn(console, "error").mockImplementation(() => {});
  const { batchItemFailures } = await deliver(records);
  const numbers = (of: readonly DynamoDBRecord[]) => of.map(({ dynamodb }) => dynamodb?.SequenceNumber);
  expect(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier).sort()).toEqual(
    numbers([...records.slice(0, 20), ...records.slice(40)]).sort(),
  );
  const line = { event: "counts failed", list: "lead", name: "AccessDeniedException" };
  expect(logged.mock.calls.flat().sort((a, b) => (a.account > b.account ? -1 : 1))).toMatchObject([
    { ...line, account: "broken" },
    { ...line, account: "also-broken" },
  ]);
  expect(await countedLeads("whole")).toBe(20);
});

test.each([
  ["gives up the changes of a list that its items fail for a minute", "ValidationException", 0],
  ["keeps the changes of a list that the table fails for a minute", "InternalServerError", 20],
])("%s, once another list was counted", async (_, name, left) => {
  const records = created(importLeads(20, { of: `poisoned by ${name}` }));
  const other = created(importLeads(20, { of: "sound" }));
  table.before = (command) => {
    // As the SDK throws them.
    const error = Object.assign(new Error("failed"), { name, $metadata: {} });
    if (JSON.stringify(command).includes("poisoned")) throw error;
  };
  const logged = vi.spyOn(console, "error").mockImplementation(() => {});
  const failures = async () => (await deliver([...records, ...other])).batchItemFailures.length;
  expect(await failures()).toBe(20);
  const start = Date.now();
  const clock = vi.spyOn(Date, "now");
  clock.mockImplementation(() => start + 59_000);
  expect(await failures()).toBe(20);
  clock.mockImplementation(() => start + 61_000);
  expect(await failures()).toBe(left);
  const event = left === 0 ? "counts given up" : "counts failed";
  expect(logged.mock.lastCall).toMatchObject([{ event, account: `poisoned by ${name}`, list: "lead" }]);
});

test("reports the whole batch when conflicts last until its time is used up", async () => {
  const leads = importLeads(20);
  table.before = (command) => {
    if (command instanceof PutCommand)
      throw Object.assign(new Error("failed"), { name: "TransactionConflictException" });
  };
  vi.spyOn(console, "error").mockImplementation(() => {});
  vi.spyOn(console, "warn").mockImplementation(() => {});
  const { batchItemFailures } = await deliver(created(leads), 5100);
  expect(batchItemFailures).toHaveLength(20);
});

test("does nothing more when only the time for the last commits is left, and reports the whole batch", async () => {
  vi.spyOn(console, "warn").mockImplementation(() => {});
  const { batchItemFailures } = await deliver(created(importLeads(20)), 5000);
  expect(batchItemFailures).toHaveLength(20);
  expect(await countedLeads(account)).toBe(0);
});

test("a list with a long tail is exact on every page of it", async () => {
  const imported = importLeads(30);
  await deliver(created(imported));
  const young: string[] = [];
  for (let i = 0; i < 150; i++) young.push((await aLead(account)).id);
  const all = [...imported.map(({ id }) => id), ...young].sort().reverse();
  for (const page of [1, 2, 8, 9]) {
    const { body } = await call("list-leads", { account, query: `page=${page}` });
    expect(body.pagination.total).toBe(180);
    expect(body.data.map(({ id }) => id)).toEqual(all.slice((page - 1) * 20, page * 20));
  }
});

test("an operator's change of a lead changes nothing else, no other account's, and is retried after a conflict", async () => {
  const lead = await aLead(account, { source: "web" });
  let updates = 0;
  table.before = (command) => {
    if (command instanceof UpdateCommand && ++updates === 1)
      throw Object.assign(new Error("failed"), { name: "TransactionConflictException" });
  };
  const soon = Date.now() + 5000;
  expect(await setLeadStatus(account, lead.id, "booked", soon)).toEqual({ ...lead, status: "booked" });
  expect(await setLeadScore(account, lead.id, 80, soon)).toEqual({ ...lead, status: "booked", score: 80 });
  expect(updates).toBe(3);
  await expectTotals({ "status=new": 0, "status=booked&source=web": 1 });
  expect(await setLeadStatus("stranger", lead.id, "new", soon)).toBeUndefined();
  expect(await setLeadScore("stranger", "lead_x", 1, soon)).toBeUndefined();
});
