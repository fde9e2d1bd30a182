import type { DynamoDBRecord } from "aws-lambda";
import { beforeEach, expect, test, vi } from "vitest";
import { handler } from "../../../functions/maintain-counts.ts";
import { table as sharedClient } from "../../../shared/dynamodb/table-client.ts";
import { newId } from "../../../shared/ids.ts";
import { countedRows } from "../../support/cases/expect-counted.ts";
import { stopClock } from "../../support/cases/virtual-time.ts";
import { lambdaContext } from "../../support/requests/events.ts";
import { storedLead } from "../../support/tables/stored.ts";
import { streamRecord } from "../../support/tables/stream-record.ts";
import { useTable } from "../../support/tables/watched-table.ts";

const account = "acme";
const table = useTable();
beforeEach(() => stopClock());

/** Stores a lead that was created at a time, and returns its item. */
function aLead(of: string, at: number) {
  const item = storedLead(newId("lead", at), of);
  table.memory.put(item);
  return item;
}

/** Writes leads old enough to be counted, as an import does, and returns their items. */
const importLeads = (count: number, of = account) =>
  Array.from({ length: count }, (_, i) => aLead(of, Date.now() - 70_000 + i));

const deliver = (records: DynamoDBRecord[], remaining = 60_000) =>
  handler({ Records: records }, lambdaContext(remaining));

const created = (leads: readonly object[]) => leads.map((lead) => streamRecord(undefined, { ...lead }));

test("reports the records of every list that failed, logs them, and counts the others", async () => {
  const accounts = ["broken", "whole", "also-broken"];
  const records = created(accounts.flatMap((of) => importLeads(20, of)));
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
  expect(await countedRows("whole")).toBe(20);
});

/** Imports leads, and makes the table fail with this error of the SDK when they are counted. */
function poisonedLeads(name: string) {
  table.before = (command) => {
    const error = Object.assign(new Error("failed"), { name, $metadata: {} });
    if (JSON.stringify(command).includes("poisoned")) throw error;
  };
  return importLeads(20, "poisoned");
}

test.each([
  ["gives up changes of a list after a minute if its items cause the failure", "ValidationException", 0],
  ["keeps changes of a list after a minute if the table causes the failure", "InternalServerError", 20],
])("%s, provided that another list was counted", async (_, name, left) => {
  const records = created(poisonedLeads(name));
  const other = created(importLeads(20, "sound"));
  const logged = vi.spyOn(console, "error").mockImplementation(() => {});
  const failures = async () => (await deliver([...records, ...other])).batchItemFailures.length;
  expect(await failures()).toBe(20);
  const written = Date.now();
  vi.setSystemTime(written + 60_000);
  expect(await failures()).toBe(20);
  // The times of records are in whole seconds.
  vi.setSystemTime(written + 61_001);
  expect(await failures()).toBe(left);
  const event = left === 0 ? "counts given up" : "counts failed";
  expect(logged.mock.lastCall).toMatchObject([{ event, account: "poisoned", list: "lead" }]);
});

test("after an outage, an environment gives up old changes at once, but only when it has counted a list", async () => {
  vi.resetModules();
  const { table: client } = await import("../../../shared/dynamodb/table-client.ts");
  vi.spyOn(client, "send").mockImplementation(sharedClient.send as never);
  const environment = await import("../../../functions/maintain-counts.ts");
  vi.spyOn(console, "error").mockImplementation(() => {});
  const failures = async (...Records: DynamoDBRecord[]) =>
    (await environment.handler({ Records }, lambdaContext(60_000))).batchItemFailures.length;
  const anHourAgo = Date.now() - 3_600_000;
  const old = poisonedLeads("ValidationException").map((lead) => streamRecord(undefined, lead, anHourAgo));
  expect(await failures(...old)).toBe(20);
  expect(await failures(...old, ...created(importLeads(20, "sound")))).toBe(0);
  expect(await failures(...old)).toBe(0);
});

test("counts nothing and reports the whole batch if only the time for the last commits is left", async () => {
  const { batchItemFailures } = await deliver(created(importLeads(20)), 5000);
  expect(batchItemFailures).toHaveLength(20);
  expect(await countedRows(account)).toBe(0);
});

/** The record of a lead that was written this many milliseconds after its id was created. */
function writtenAfter(time: number, attributes: object = {}): DynamoDBRecord {
  const now = 1000 * Math.floor(Date.now() / 1000);
  return streamRecord(undefined, { ...aLead(account, now - time), ...attributes }, now);
}

test("late writes of routes are logged before totals can miss rows, and rows that land even later are still counted", async () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  await deliver(created(importLeads(100)));
  const changed = writtenAfter(2000);
  Object.assign(changed.dynamodb ?? {}, { OldImage: changed.dynamodb?.NewImage });
  await deliver([changed, writtenAfter(1500), writtenAfter(59_000), writtenAfter(2000, { imported: true })]);
  expect(warn).not.toHaveBeenCalled();
  const counted = await countedRows(account);
  await deliver([writtenAfter(1501), writtenAfter(3000)]);
  // The times of records are in whole seconds.
  expect(warn.mock.calls).toEqual([[{ event: "late writes", rows: 2, latest: 4000 }]]);
  // The row that was written 3 s late lies before the watermark.
  expect(await countedRows(account)).toBe(counted + 1);
});
