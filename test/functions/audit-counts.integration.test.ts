import { DeleteCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { ulid } from "ulid";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { handler } from "../../functions/audit-counts.ts";
import { leadKey } from "../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../shared/dynamodb/table-client.ts";
import { auditLists } from "../../shared/pages/audit/audit-lists.ts";
import { maintainList } from "../../shared/pages/maintain/maintain-list.ts";
import { countedLists } from "../../shared/pages/tree/counted-list.ts";
import { readRoot, treeKey } from "../../shared/pages/tree/tree-store.ts";
import { lambdaContext } from "../support/events.ts";

const lines = { error: [] as unknown[], info: [] as unknown[] };

beforeEach(() => {
  for (const level of ["error", "info"] as const) {
    lines[level] = [];
    vi.spyOn(console, level).mockImplementation((line) => void lines[level].push(line));
  }
});

afterEach(() => void vi.restoreAllMocks());

const putLead = (account: string, id: string, status: string) => {
  const Item = { ...leadKey(account, id), id, status, byOrigin: `LEAD#${account}#web` };
  return table.send(new PutCommand({ TableName: tableName, Item }));
};

/** Creates counted leads. @returns their ids */
async function countLeads(account: string) {
  const ids = Array.from({ length: 100 }, (_, i) => `lead_${ulid(Date.now() - 3_600_000 + i)}`);
  for (const id of ids) await putLead(account, id, "new");
  await maintainList({ account, list: countedLists.lead }, [], { deadline: Date.now() + 60_000 });
  return ids;
}

/** Audits the whole table, hour by hour, without waiting. @returns the sums */
async function auditWeek() {
  const sums = { lists: 0, verified: 0, repaired: 0 };
  for (let hour = 0; hour < 168; hour++) {
    const audited = await auditLists(hour * 3_600_000, Date.now() + 60_000, async () => {});
    for (const name of ["lists", "verified", "repaired"] as const) sums[name] += audited[name];
  }
  return sums;
}

test("in a week, each list is verified once, and repaired if it is wrong", async () => {
  const [first = ""] = await countLeads("changed");
  await countLeads("lost");
  await countLeads("correct");
  await putLead("uncounted", `lead_${ulid()}`, "new");
  // A change that the stream never delivers, and a lost root.
  await putLead("changed", first, "booked");
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
  const rows = Array.from({ length: 40 }, (_, i) => `lead_${ulid(Date.now() - 30_000 + i)}`);
  for (const id of rows) await putLead("tail", id, "new");
  const watermark = async () =>
    (await readRoot({ account: "tail", list: countedLists.lead }))?.watermark ?? "";
  expect((await watermark()) < String(rows[0])).toBe(true);
  expect((await auditWeek()).repaired).toBe(0);
  expect((await watermark()) > String(rows.at(-1))).toBe(true);
});

test("a list that cannot be verified is logged, and does not stop the others", async () => {
  await countLeads("unreadable");
  const send = table.send.bind(table) as (command: object) => Promise<never>;
  vi.spyOn(table, "send").mockImplementation(async (command: object) => {
    if (JSON.stringify(command).includes("COUNT#unreadable")) throw new Error("on purpose");
    return send(command);
  });
  const { lists, verified } = await auditWeek();
  expect(verified).toBe(lists - 1);
  const line = { event: "counts failed", account: "unreadable", list: "lead" };
  expect(lines.error).toEqual([expect.objectContaining(line)]);
});

test("the function audits the part of the table of this hour, and says what it has done", async () => {
  await handler({}, lambdaContext(900_000));
  const audited = { event: "counts audited", lists: expect.any(Number), verified: expect.any(Number) };
  expect(lines.info).toEqual([{ ...audited, repaired: 0 }]);
});

test("without time, it fails no list", async () => {
  expect(await auditLists(0, Date.now() + 60_000)).toMatchObject({ repaired: 0 });
  await expect(auditLists(0, 0)).rejects.toThrow("The time is up.");
});
