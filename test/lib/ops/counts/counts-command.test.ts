import { DynamoDBDocumentClient, PutCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { countsCommand } from "../../../../lib/ops/counts/counts-command.ts";
import { rebuild } from "../../../../lib/ops/counts/rebuild.ts";
import { nodePrefix, parseGeneration } from "../../../../shared/dynamodb/keys.ts";
import { Pace } from "../../../../shared/dynamodb/pace.ts";
import { type Item, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { verify } from "../../../../shared/pages/audit/verify.ts";
import { maintainList } from "../../../../shared/pages/maintain/maintain-list.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { readRoot, treeKey } from "../../../../shared/pages/tree/tree-store.ts";
import { killAtEachWrite } from "../../../support/conditions.ts";
import { putLeads } from "../../../support/memory-leads.ts";
import { MemoryTable } from "../../../support/memory-table.ts";
import { skipWaits } from "../../../support/skipped-waits.ts";

const leads = { account: "acme", list: countedLists.lead };
const webLeads = { ...leads, origin: "LEAD#acme#web" } as const;
const deadline = Number.POSITIVE_INFINITY;
const pace = new Pace(1_000_000);

let memory: MemoryTable;
/** Called before each command. */
let before: (command: object) => unknown;
/** How many leads were read. */
let rowsRead = 0;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 0, 1) });
  memory = new MemoryTable();
  before = () => {};
  skipWaits((milliseconds) => vi.setSystemTime(Date.now() + milliseconds));
  const send = async (command: object) => {
    await before(command);
    const output = (await memory.send(command)) as { readonly Items?: readonly Item[] };
    if (command instanceof QueryCommand)
      rowsRead += (output.Items ?? []).filter(({ sk }) => String(sk).startsWith("lead_")).length;
    return output;
  };
  vi.spyOn(DynamoDBDocumentClient.prototype, "send").mockImplementation(send as never);
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Runs the command. @returns what it printed, on stderr too, and the message of its failure */
async function counts(...args: string[]) {
  const printed: unknown[] = [];
  const errors: unknown[] = [];
  vi.spyOn(console, "log").mockImplementation((text) => void printed.push(text));
  vi.spyOn(console, "error").mockImplementation((text) => void errors.push(text));
  const failure: unknown = await countsCommand()
    .parseAsync([...args, "--account", "acme", "--table", "unit"], { from: "user" })
    .then(
      () => undefined,
      (error: Error) => error.message,
    );
  return { printed, errors, failure };
}

/** Writes counted leads. */
async function countedLeads(count: number, source: (i: number) => string = () => "web") {
  const items = putLeads(memory, "acme", count, (i) => ({ source: source(i) }));
  await maintainList(leads, [], { deadline });
  return items;
}

test("verify finds a wrong row in a list and in its source, and --repair corrects both", async () => {
  const items = await countedLeads(450, (i) => (i % 2 ? "web" : "ads"));
  expect((await counts("verify")).failure).toBeUndefined();
  const Item = { ...items[3], status: "booked" };
  memory.execute(new PutCommand({ TableName: tableName, Item }));
  const { printed, failure } = await counts("verify");
  expect(failure).toBe(
    "The counts of the account acme differ in 2 places: run `npm run ops -- counts verify --repair --account acme --table unit`.",
  );
  const row = items[3]?.sk;
  expect(String(printed[0]).split("\n")).toEqual([
    expect.stringMatching(/^list +row +counted +actual +source$/),
    expect.stringMatching(new RegExp(`^leads +${row} +new +booked$`)),
    expect.stringMatching(new RegExp(`^leads +${row} +new +booked +web$`)),
  ]);
  expect(await counts("verify", "--repair")).toMatchObject({
    ...{ failure: undefined, errors: [expect.stringMatching(/ differ in 2 places, which are corrected\.$/)] },
  });
  expect(await counts("verify", "--json")).toEqual({ printed: ["[]"], errors: [], failure: undefined });
});

test("a damaged tree is one place, and --repair counts it again", async () => {
  await countedLeads(450);
  const { pk } = treeKey(webLeads, "");
  for (const item of [...memory.items()])
    if (item.pk === pk && String(item.sk).startsWith(nodePrefix))
      memory.execute(new PutCommand({ TableName: tableName, Item: { ...item, entries: new Uint8Array() } }));
  const { printed } = await counts("verify", "--json");
  expect(JSON.parse(String(printed[0]))).toEqual([
    {
      list: "leads",
      source: "web",
      damage: expect.stringMatching(/^The node .* is missing, or not what its entry says/),
    },
  ]);
  await counts("verify", "--repair");
  expect((await counts("verify")).failure).toBeUndefined();
});

test.each([
  { version: "x" },
  { watermark: 5 },
  { watermark: "x".repeat(300_000) },
  { generation: "1" },
  { entries: "none" },
])("a root with %j is named, and counted again", async (attributes) => {
  await countedLeads(450);
  const key = treeKey(webLeads, "root");
  const root = [...memory.items()].find(({ pk, sk }) => pk === key.pk && sk === key.sk);
  const [name] = Object.keys(attributes);
  for (const command of [["verify", "--repair"], ["rebuild"]]) {
    memory.execute(new PutCommand({ TableName: tableName, Item: { ...root, ...key, ...attributes } }));
    const { printed, failure } = await counts("verify");
    expect(printed[0]).toMatch(new RegExp(`^leads +web +The root is malformed: ${name}[.]$`, "m"));
    expect(failure).toMatch(/ differ in 1 places/);
    expect((await counts(...command)).failure).toBeUndefined();
    expect((await counts("verify")).failure).toBeUndefined();
  }
});

test("--units sets the pace of verify and rebuild", async () => {
  await countedLeads(1000);
  for (const command of ["verify", "rebuild"]) {
    const start = Date.now();
    await counts(command, "--units", "50");
    const seconds = (Date.now() - start - (command === "rebuild" ? 60_000 : 0)) / 1000;
    expect(seconds).toBeGreaterThan(1);
    expect(seconds).toBeLessThan(20);
  }
});

const rebuildLeads = () => rebuild(leads, pace);

/** Checks all trees, and that no node of an earlier one is left. */
async function expectRebuilt() {
  expect((await verify(leads, { pace })).findings).toEqual([]);
  for (const owner of [leads, webLeads]) {
    const root = await readRoot(owner);
    expect(root?.watermark).toMatch(/^lead_/);
    expect(root?.filling).toBeUndefined();
    const nodes = [...memory.items()].filter(
      ({ pk, sk }) => pk === treeKey(owner, "").pk && String(sk).startsWith(nodePrefix),
    );
    expect(nodes.length).toBeGreaterThan(5);
    expect(new Set(nodes.map(({ sk }) => parseGeneration(String(sk))))).toEqual(new Set([root?.generation]));
  }
}

test("a rebuild reads each row twice, and deletes the old nodes after a minute", async () => {
  await countedLeads(1000);
  rowsRead = 0;
  const start = Date.now();
  await rebuildLeads();
  expect(rowsRead).toBeGreaterThanOrEqual(2000);
  expect(rowsRead).toBeLessThan(2200);
  expect(Date.now() - start).toBeGreaterThanOrEqual(60_000);
  await expectRebuilt();
});

test("a rebuild that is killed at any of its writes is done by the next one", async () => {
  await countedLeads(1000);
  const start = memory.snapshot();
  const kills = await killAtEachWrite(async (kill) => {
    memory.restore(start);
    await kill(rebuildLeads);
    await rebuildLeads();
    await expectRebuilt();
  });
  expect(kills).toBeGreaterThan(5);
});

test("a rebuild beside another one, and beside changes that maintainers count, ends with correct counts", async () => {
  const items = await countedLeads(1000);
  const { origin } = webLeads;
  let queries = 0;
  let changes = 0;
  before = async (command) => {
    if (!(command instanceof QueryCommand) || ++queries % 4 !== 0 || changes >= 5) return;
    const item = items[100 * changes++];
    memory.execute(new PutCommand({ TableName: tableName, Item: { ...item, status: "booked" } }));
    const change = {
      key: String(item?.sk),
      sequenceNumber: "",
      kind: "changed",
      origins: [origin],
    } as const;
    await maintainList(leads, [change], { deadline });
  };
  await Promise.all([rebuildLeads(), rebuildLeads()]);
  expect(changes).toBe(5);
  await expectRebuilt();
});

test("a list without rows gets no tree", async () => {
  await rebuildLeads();
  expect([...memory.items()]).toEqual([]);
});
