import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { countsCommand } from "../../../../lib/ops/counts/counts-command.ts";
import { tableName } from "../../../../shared/dynamodb/table-client.ts";
import { maintain } from "../../../../shared/pages/maintain/maintain.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { limits } from "../../../../shared/pages/tree/tree-limits.ts";
import { putSourcedLeads } from "../../../support/counted-sublists.ts";
import { MemoryTable } from "../../../support/memory-table.ts";

let memory: MemoryTable;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 0, 1) });
  memory = new MemoryTable();
  const send = memory.send as unknown as DynamoDBDocumentClient["send"];
  vi.spyOn(DynamoDBDocumentClient.prototype, "send").mockImplementation(send);
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Runs the command. @returns what it printed, and the message of its failure */
async function counts(...args: string[]) {
  const printed: unknown[] = [];
  vi.spyOn(console, "log").mockImplementation((text) => void printed.push(text));
  const command = countsCommand(async (milliseconds) => void vi.setSystemTime(Date.now() + milliseconds));
  const failure: unknown = await command
    .parseAsync([...args, "--account", "acme", "--table", "unit"], { from: "user" })
    .then(
      () => undefined,
      (error: Error) => error.message,
    );
  return { printed, failure };
}

/** Counts leads in the whole list, as before the first deployment of sublists. */
async function oldLeads(count: number, source: (i: number) => string) {
  const items = putSourcedLeads(memory, "acme", count, (i) => ({ source: source(i) }));
  await maintain({ account: "acme", list: countedLists.lead }, [], { deadline: Number.POSITIVE_INFINITY });
  return items;
}

test("rebuild makes the missing trees, verify finds a wrong row in a source, and rebuild corrects it", async () => {
  const items = await oldLeads(450, (i) => (i % 2 ? "web" : "ads"));
  const rebuilt = { printed: ["The counts of the account acme are rebuilt."], failure: undefined };
  expect(await counts("rebuild")).toEqual(rebuilt);
  expect((await counts("verify")).failure).toBeUndefined();
  const Item = { ...items[3], status: "booked" };
  memory.execute(new PutCommand({ TableName: tableName, Item }));
  const { printed, failure } = await counts("verify");
  expect(failure).toBe(
    "The counts of the account acme differ in 2 places: run `npm run ops -- counts rebuild --account acme --table unit`.",
  );
  const lines = String(printed[0]).split("\n").slice(3);
  const from = items[3]?.sk;
  expect(lines.map((line) => line.split(/ +/))).toEqual([
    expect.arrayContaining(["leads", "web", "0", from, "new", "1", "0"]),
    expect.arrayContaining(["leads", "web", "(other)", "0", "1"]),
  ]);
  const [json] = (await counts("verify", "--json")).printed;
  expect(JSON.parse(String(json))).toMatchObject([
    { list: "leads", level: 0 },
    { source: "web", level: 0 },
  ]);
  expect(await counts("rebuild")).toEqual(rebuilt);
  expect((await counts("verify")).failure).toBeUndefined();
});

test("status prints the twenty largest sublists, and --json all of them", async () => {
  await oldLeads(22 * 200, (i) => `s${i % 22}`);
  await counts("rebuild");
  const { printed } = await counts("status");
  const [lists, sublists, ...lines] = printed;
  expect(lists).toMatch(/ sublists\nacme +leads .+ 22\nacme +conversations .+ 0$/);
  expect(String(sublists).split("\n")).toHaveLength(1 + 20);
  expect(lines).toEqual(["2 more sublists of the leads have counts of their own: see --json."]);
  const [json] = (await counts("status", "--json")).printed;
  const [leads] = JSON.parse(String(json));
  expect(leads).toMatchObject({ sublistTrees: 22 });
  expect(leads.sublists).toHaveLength(22);
  expect(leads.sublists[0]).toMatchObject({
    index: "by-origin",
    of: expect.stringMatching(/^s\d+$/),
    levels: 0,
  });
});

test("--units sets the pace of a rebuild of sublists", async () => {
  await oldLeads(1000, () => "web");
  const before = Date.now();
  await counts("rebuild", "--units", "50");
  // It waits for the readers of the old tree, and for the index of the new one.
  const waits = 60_000 + limits.indexLateness + limits.skew;
  const seconds = (Date.now() - before - waits) / 1000;
  // It reads each of the rows by its key, with the state of the last seconds, and the whole list twice.
  expect(seconds).toBeGreaterThan(1000 / 50);
  expect(seconds).toBeLessThan((3 * 1000) / 50);
});
