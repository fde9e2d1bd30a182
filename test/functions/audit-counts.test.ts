import { DeleteCommand, PutCommand, ScanCommand, type ScanCommandInput } from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, test, vi } from "vitest";
import { handler } from "../../functions/audit-counts.ts";
import { leadKey } from "../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../shared/dynamodb/table-client.ts";
import { newId } from "../../shared/ids.ts";
import { auditLists } from "../../shared/pages/audit/audit-lists.ts";
import { maintainList } from "../../shared/pages/maintain/maintain-list.ts";
import { countedLists } from "../../shared/pages/tree/counted-list.ts";
import { readRoot, treeKey } from "../../shared/pages/tree/tree-store.ts";
import { lambdaContext } from "../support/events.ts";
import { useMemoryTable } from "../support/memory-leads.ts";
import { skipWaits } from "../support/skipped-waits.ts";

const lines = { error: [] as unknown[], info: [] as unknown[] };

/** Runs before each call. */
let before: (command: object) => void;

beforeEach(() => {
  for (const level of ["error", "info"] as const) {
    lines[level] = [];
    vi.spyOn(console, level).mockImplementation((line) => void lines[level].push(line));
  }
  before = () => {};
  const memory = useMemoryTable(async (command, send) => {
    before(command);
    return command instanceof ScanCommand ? scan(command.input) : send(command);
  });
  /** The keys of a part of the table. */
  const scan = ({ Segment, TotalSegments = 1 }: ScanCommandInput) => {
    const partOf = (pk: string) =>
      [...pk].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % TotalSegments;
    return { Items: [...memory.items()].filter(({ pk }) => partOf(String(pk)) === Segment) };
  };
});

/** Stores leads of which only the rows matter. */
async function putLeads(account: string, ids: readonly string[], status = "new"): Promise<void> {
  for (const id of ids) {
    const Item = { ...leadKey(account, id), id, status, byOrigin: `LEAD#${account}#web` };
    await table.send(new PutCommand({ TableName: tableName, Item }));
  }
}

const newIds = (count: number, age: number) =>
  Array.from({ length: count }, (_, i) => newId("lead", Date.now() - age + i));

/** Creates counted leads. @returns their ids */
async function countLeads(account: string) {
  const ids = newIds(75, 3_600_000);
  await putLeads(account, ids);
  await maintainList({ account, list: countedLists.lead }, [], { deadline: Date.now() + 60_000 });
  return ids;
}

/** Audits the whole table, hour by hour, without waiting. @returns the sums */
async function auditWeek() {
  using _ = skipWaits();
  const sums = { lists: 0, verified: 0, repaired: 0 };
  for (let hour = 0; hour < 168; hour++) {
    const audited = await auditLists(hour * 3_600_000, Date.now() + 60_000);
    for (const name of ["lists", "verified", "repaired"] as const) sums[name] += audited[name];
  }
  return sums;
}

test("in a week, each list is verified once, and repaired if it is wrong", async () => {
  const [first = ""] = await countLeads("changed");
  await countLeads("lost");
  await countLeads("correct");
  await putLeads("uncounted", newIds(1, 0));
  // A change that the stream never delivers, and a lost root.
  await putLeads("changed", [first], "booked");
  const lost = { account: "lost", list: countedLists.lead };
  await table.send(new DeleteCommand({ TableName: tableName, Key: treeKey(lost, "root") }));

  expect(await auditWeek()).toEqual({ lists: 4, verified: 4, repaired: 2 });
  const repaired = { event: "counts repaired", list: "lead", complete: true };
  expect(lines.error).toHaveLength(3);
  expect(lines.error).toEqual(
    expect.arrayContaining([
      { ...repaired, account: "changed", trees: 2, damaged: 0, rows: 2 },
      expect.objectContaining({ event: "counts damaged", account: "lost", tree: "COUNT#lost#LEAD" }),
      { ...repaired, account: "lost", trees: 1, damaged: 1, rows: 0 },
    ]),
  );
  expect(await readRoot(lost)).toBeDefined();
  expect(await auditWeek()).toEqual({ lists: 4, verified: 4, repaired: 0 });
});

test("a tail that no change has come for is counted", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 60_000 });
  await countLeads("tail");
  vi.useRealTimers();
  const rows = newIds(40, 30_000);
  await putLeads("tail", rows);
  const watermark = async () =>
    (await readRoot({ account: "tail", list: countedLists.lead }))?.watermark ?? "";
  expect((await watermark()) < String(rows[0])).toBe(true);
  expect((await auditWeek()).repaired).toBe(0);
  expect((await watermark()) > String(rows.at(-1))).toBe(true);
});

test("a list that cannot be verified is logged, and does not stop the others", async () => {
  await countLeads("unreadable");
  await countLeads("readable");
  before = (command) => {
    if (JSON.stringify(command).includes("COUNT#unreadable")) throw new Error("on purpose");
  };
  expect(await auditWeek()).toEqual({ lists: 2, verified: 1, repaired: 0 });
  const line = { event: "counts failed", account: "unreadable", list: "lead" };
  expect(lines.error).toEqual([expect.objectContaining(line)]);
});

test("the function audits the part of the table of this hour, and says what it has done", async () => {
  await handler({}, lambdaContext(900_000));
  const audited = { event: "counts audited", lists: expect.any(Number), verified: expect.any(Number) };
  expect(lines.info).toEqual([{ ...audited, repaired: 0 }]);
});

test("the function keeps 90 seconds of its time", async () => {
  await expect(handler({}, lambdaContext(89_000))).rejects.toThrow("The function failed.");
  expect(lines.error).toMatchObject([{ event: "function failed", cause: { code: "too_slow" } }]);
});

test("without time, it fails no list", async () => {
  expect(await auditLists(0, Date.now() + 60_000)).toMatchObject({ repaired: 0 });
  await expect(auditLists(0, 0)).rejects.toThrow("The time is up.");
});
