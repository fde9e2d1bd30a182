import { BatchGetCommand, QueryCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, test, vi } from "vitest";
import { handler } from "../../../functions/audit-counts.ts";
import { auditKey } from "../../../shared/dynamodb/keys.ts";
import { newId } from "../../../shared/ids.ts";
import { auditLists } from "../../../shared/pages/audit/audit-lists.ts";
import { maintainList } from "../../../shared/pages/maintain/maintain-list.ts";
import { countedLists, keyAt } from "../../../shared/pages/tree/counted-list.ts";
import { emptyRoot, rootItem } from "../../../shared/pages/tree/root.ts";
import { readRoot, treeKey } from "../../../shared/pages/tree/tree-store.ts";
import { skipWaits } from "../../support/cases/skipped-waits.ts";
import { lambdaContext } from "../../support/requests/events.ts";
import { storedLead } from "../../support/tables/stored.ts";
import { throttled, useTable } from "../../support/tables/watched-table.ts";

const hour = 3_600_000;

let logged: unknown[];

const watched = useTable();
const { memory } = watched;

/** The time of the last audit. */
let now = 0;

/** Runs before each call of the table. */
let before: (command: object) => void;

beforeEach(() => {
  logged = [];
  vi.spyOn(console, "error").mockImplementation((line) => void logged.push(line));
  before = () => {};
  now = Date.now();
  vi.useFakeTimers({ toFake: ["Date"], now });
  watched.before = (command) => {
    before(command);
    // The scan takes more than one page.
    if (command instanceof ScanCommand) command.input.Limit = 50;
  };
});

function putLeads(account: string, ids: readonly string[], status: "new" | "booked" = "new"): void {
  for (const id of ids) memory.put(storedLead(id, account, { source: "web", status }));
}

const newIds = (count: number, age: number) =>
  Array.from({ length: count }, (_, i) => newId("lead", Date.now() - age + i));

/** Creates counted leads, older than any change in the stream. @returns their ids */
async function countLeads(account: string) {
  const ids = newIds(75, 48 * hour);
  putLeads(account, ids);
  await maintainList({ account, list: countedLists.lead }, [], { deadline: Date.now() + 60_000 });
  return ids;
}

/** Audits some hours after the last audit, without waits. @param time the time of the run, in milliseconds */
async function audit(hours: number, time = 60_000, rowsAtOnce?: number) {
  using _ = skipWaits();
  now += hours * hour;
  return await auditLists(now, Date.now() + time, rowsAtOnce);
}

test("in a week, each list is verified once, and repaired if it is wrong", async () => {
  const [first = ""] = await countLeads("changed");
  await countLeads("lost");
  await countLeads("correct");
  putLeads("uncounted", newIds(1, 0));
  // A change that the stream never delivers, and a lost root, without which a list only costs more.
  putLeads("changed", [first], "booked");
  const lost = { account: "lost", list: countedLists.lead };
  memory.delete(treeKey(lost, "root"));

  expect(await audit(0)).toEqual({ verified: 4, repaired: 1, oldest: 0 });
  expect(logged).toEqual([{ event: "counts repaired", account: "changed", list: "lead", rows: 2 }]);
  expect(await readRoot(lost)).toBeDefined();
  expect(await audit(167)).toEqual({ verified: 0, repaired: 0, oldest: 167 });
  expect(await audit(1)).toEqual({ verified: 4, repaired: 0, oldest: 0 });
});

test("a long list is repaired while it is verified, and the next audit continues where the last one ran out of time", async () => {
  const ids = await countLeads("long");
  const [first = "", last = ""] = [ids[0], ids.at(-1)];
  putLeads("long", [first, last], "booked");
  const read: string[] = [];
  before = (command) => {
    if (!(command instanceof QueryCommand)) return;
    const { ExpressionAttributeValues: values, Limit, ExclusiveStartKey } = command.input;
    // A maintainer reads with a limit.
    if (values?.[":pk"] !== "LEAD#long" || Limit !== undefined) return;
    command.input.Limit = 30;
    read.push(String(ExclusiveStartKey?.sk ?? values[":start"]));
    // Two reads of the first rows, the second one to their end, and one read of the next rows.
    if (read.length === 4) vi.advanceTimersByTime(hour);
  };
  expect(await audit(0, 60_000, 30)).toEqual({ verified: 0, repaired: 1, oldest: 168 });
  const next = `${ids[29]}!`;
  expect(read).toEqual([" ", " ", ids[29], next]);
  expect(await audit(1, 60_000, 30)).toEqual({ verified: 1, repaired: 1, oldest: 1 });
  expect(read.slice(4)).toEqual([next, `${ids[59]}!`, `${ids[59]}!`]);
  expect(logged).toMatchObject([{ rows: 2 }, { rows: 2 }]);
});

test("if an account is erased while its list is audited and the time ends, the next audit continues after this list", async () => {
  await countLeads("erased");
  await countLeads("other");
  const erased = { account: "erased", list: countedLists.lead };
  let calls = 0;
  before = (command) => {
    if (!JSON.stringify(command).includes("COUNT#erased")) return;
    expect(++calls).toBeLessThan(10);
    if (calls > 1) return;
    for (const { pk, sk } of [...memory.items()])
      if (/#erased(#|$)/.test(String(pk))) memory.delete({ pk, sk });
    const left = { ...emptyRoot(now), version: 1, expiresAt: Math.ceil(now / 1000) + 48 * 3600 };
    memory.put({ ...treeKey(erased, "root"), ...rootItem(left) });
    vi.advanceTimersByTime(hour);
  };
  expect(await audit(0)).toMatchObject({ oldest: 168 });
  expect(logged).toEqual([]);
  before = () => {};
  expect(await audit(1)).toMatchObject({ oldest: 1 });
  expect((await readRoot(erased))?.expiresAt).toBeDefined();
});

test("the list of an account that is used again after its erasure is counted, and not reported as wrong", async () => {
  const erased = { account: "erased", list: countedLists.lead };
  const left = { ...emptyRoot(now - 24 * hour), version: 1, expiresAt: Math.ceil(now / 1000) + 24 * 3600 };
  memory.put({
    ...treeKey(erased, "root"),
    ...rootItem({ ...left, watermark: keyAt(erased.list, now - 24 * hour) }),
  });
  putLeads("erased", newIds(40, hour));
  expect(await audit(0)).toEqual({ verified: 1, repaired: 0, oldest: 0 });
  expect(logged).toEqual([]);
  const root = await readRoot(erased);
  expect([root?.expiresAt, root?.buffer.length]).toEqual([undefined, 40]);
});

test("a stored scan position that the table refuses fails one audit, and the next audit begins again", async () => {
  await countLeads("any");
  const round = { beganAt: 0, position: { pk: "LEAD#any", sk: "x".repeat(1025) } };
  memory.put({ ...auditKey, since: 0, round });
  const refused = Object.assign(new Error("The provided starting key is invalid"), {
    name: "ValidationException",
  });
  before = (command) => {
    const { ExclusiveStartKey } = command instanceof ScanCommand ? command.input : {};
    if (ExclusiveStartKey?.sk.length > 1024) throw refused;
  };
  await expect(audit(0)).rejects.toBe(refused);
  expect(await audit(0)).toEqual({ verified: 1, repaired: 0, oldest: 0 });
});

test("a list that cannot be verified is logged, and does not stop the others", async () => {
  await countLeads("invalid");
  await countLeads("readable");
  before = (command) => {
    if (JSON.stringify(command).includes("COUNT#invalid")) throw new Error("on purpose");
  };
  expect(await audit(0)).toEqual({ verified: 1, repaired: 0, oldest: 0 });
  const line = { event: "counts given up", account: "invalid", list: "lead" };
  expect(logged).toEqual([expect.objectContaining(line)]);
});

test("a list is given up if a whole run is too short for its next rows, and the lists after it are verified", async () => {
  await countLeads("first");
  await countLeads("second");
  before = (command) => {
    if (JSON.stringify(command).includes("COUNT#first")) vi.advanceTimersByTime(hour);
  };
  // The run that reaches the list, the run that begins with it, and the next run.
  expect(await audit(0)).toMatchObject({ verified: 0 });
  expect(logged).toEqual([]);
  expect(await audit(1)).toMatchObject({ verified: 0 });
  expect(logged).toMatchObject([{ event: "counts given up", account: "first", list: "lead" }]);
  expect(await audit(1)).toMatchObject({ verified: 1, oldest: 2 });
});

test("a repair that does not finish in time is continued by the next run", async () => {
  const [first = ""] = await countLeads("changed");
  putLeads("changed", [first], "booked");
  before = (command) => {
    if (command instanceof BatchGetCommand) vi.advanceTimersByTime(hour);
  };
  expect(await audit(0)).toEqual({ verified: 0, repaired: 1, oldest: 168 });
  expect(logged).toMatchObject([{ event: "counts repaired" }]);
  before = () => {};
  expect(await audit(1)).toEqual({ verified: 1, repaired: 1, oldest: 1 });
});

test.each([
  { time: 900_000, verified: 1, oldest: 0 },
  { time: 89_000, verified: 0, oldest: 168 },
])("the function stops 90 seconds before the end of its $time ms, and logs what it has done", async ({
  time,
  ...done
}) => {
  await countLeads("any");
  const info = vi.spyOn(console, "info").mockReturnValue();
  await handler({}, lambdaContext(time));
  expect(info.mock.calls).toEqual([[{ event: "counts audited", repaired: 0, ...done }]]);
});

test("a run ends if the table throttles until its time is up, and the next run continues", async () => {
  await countLeads("busy");
  before = (command) => {
    if (!(command instanceof QueryCommand)) return;
    vi.advanceTimersByTime(20_000);
    throw throttled();
  };
  expect(await audit(0)).toEqual({ verified: 0, repaired: 0, oldest: 168 });
  before = () => {};
  expect(await audit(1)).toEqual({ verified: 1, repaired: 0, oldest: 1 });
});

test("if the time of a run ends between lists, the next run continues at the same page of the scan", async () => {
  for (let n = 0; n < 200; n++) memory.put({ pk: `MESSAGE#any#conv_${n}`, sk: "msg_1" });
  const read: unknown[] = [];
  before = (command) => {
    if (command instanceof ScanCommand && read.push(command.input.ExclusiveStartKey) === 3)
      vi.advanceTimersByTime(hour);
  };
  await audit(0);
  await audit(1);
  expect(read[2]).toMatchObject({ sk: "msg_1" });
  expect(read[3]).toEqual(read[2]);
});
