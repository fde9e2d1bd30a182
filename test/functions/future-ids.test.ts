import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { toEvents } from "../../shared/domain/events.ts";
import { Pace } from "../../shared/dynamodb/pace.ts";
import { maxIdAhead } from "../../shared/ids.ts";
import { verify } from "../../shared/pages/audit/verify.ts";
import { countedLists } from "../../shared/pages/tree/counted-list.ts";
import { call } from "../support/call.ts";
import { LeadHistory } from "../support/history.ts";
import { putLeads } from "../support/memory-leads.ts";
import { streamRecord } from "../support/stream-record.ts";

const year9000 = Date.UTC(9000, 0, 1);

let history: LeadHistory;
let logged = vi.spyOn(console, "error");
beforeEach(() => {
  logged = vi.spyOn(console, "error").mockReturnValue();
  history = new LeadHistory();
  for (let i = 0; i < 200; i++) history.add({ age: 60_000 - 100 * i, source: "web" });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const plant = (count: number, start = year9000) =>
  putLeads(history.table.memory, history.account, count, () => ({ source: "web" }), start);

const list = (query: string) =>
  history.table.watch(() => call("list-leads", { account: history.account, query }));

test("leads of the future are in no list, and no list pays for them", async () => {
  await history.deliver();
  const queries = ["limit=10", "limit=10&page=7", "source=web&limit=10", "createdAfter=8999-01-01T00:00:00Z"];
  const before = [];
  for (const query of queries) before.push(await list(query));
  const [planted] = plant(6000);
  for (const [i, query] of queries.entries()) {
    const { result, units } = await list(query);
    expect(result.body).toEqual(before[i]?.result.body);
    expect(units).toBe(before[i]?.units);
  }
  expect((await list(`id=${planted?.id}`)).result.body.pagination.total).toBe(0);
});

test("what is written meanwhile is counted, and verify names each of them", async () => {
  plant(3);
  for (let i = 0; i < 40; i++) history.add({ age: 20_000 - i, source: "web" });
  await history.deliver();
  expect((await list("limit=1")).result.body.pagination.total).toBe(240);
  const named: string[] = [];
  const owner = { account: history.account, list: countedLists.lead };
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const onInvalid = ({ sk = "" }: { sk?: string }) => void named.push(sk);
  expect((await verify(owner, { pace: new Pace(1e9), onInvalid })).findings).toEqual([]);
  expect(named).toHaveLength(3);
});

test("a lead of a machine whose clock is ahead is there, as far as clocks may differ", async () => {
  const now = Date.now();
  vi.useFakeTimers({ toFake: ["Date"], now });
  plant(1, now + maxIdAhead);
  plant(1, now + maxIdAhead + 1);
  expect((await list("limit=1")).result.body.pagination.total).toBe(201);
});

test("an item of the future has no event, and is named once; one a minute ahead, as messages may be, has one", () => {
  const recordOf = (time: number) => {
    plant(1, time);
    return streamRecord(undefined, [...history.table.memory.items()].at(-1));
  };
  expect(toEvents([recordOf(Date.now() + 60_000)])).toHaveLength(1);
  const record = recordOf(year9000);
  expect(toEvents([record, record])).toEqual([]);
  const item = [...history.table.memory.items()].at(-1);
  const lines = logged.mock.calls.filter(([line]) => line.sk === item?.sk);
  expect(lines).toEqual([[expect.objectContaining({ event: "invalid item", field: "id" })]]);
});
