import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { call } from "../support/call.ts";
import { throttled, WatchedTable } from "../support/watched-table.ts";

let table: WatchedTable;
let now: number;

beforeEach(() => {
  now = Date.UTC(2026, 0, 1);
  vi.useFakeTimers({ toFake: ["Date"], now });
  vi.spyOn(console, "error").mockImplementation(() => {});
  // The backoff is the longest that its jitter allows.
  vi.spyOn(Math, "random").mockReturnValue(1);
  table = new WatchedTable();
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Lists after some milliseconds. @returns the status of the response, and the number of calls */
async function list(after: number, account: string, query = ""): Promise<[number | undefined, number]> {
  now += after;
  vi.setSystemTime(now);
  const { result, calls } = await table.watch(() => call("list-leads", { account, query }));
  return [result.status, calls.length];
}

const throttle = () => {
  table.before = () => {
    throw throttled();
  };
};
const recover = () => {
  table.before = () => {};
};

const busyWithoutCall = [503, 0];
const busy = [503, 2];
const listed = [200, 2];

test("after a throttle, lists of the range fail at once, for a time that doubles up to five seconds", async () => {
  const account = randomUUID();
  throttle();
  expect(await list(0, account)).toEqual(busy);
  for (const backoff of [100, 200, 400, 800, 1600, 3200, 5000, 5000]) {
    expect(await list(backoff - 1, account)).toEqual(busyWithoutCall);
    expect(await list(1, account)).toEqual(busy);
  }
});

test("lists of a source in any letter case back off together", async () => {
  const account = randomUUID();
  throttle();
  expect(await list(0, account, "source=LinkedIn")).toEqual(busy);
  expect(await list(99, account, "source=linkedin")).toEqual(busyWithoutCall);
  expect(await list(1, account, "source=LINKEDIN")).toEqual(busy);
  expect(await list(199, account, "source=LinkedIn")).toEqual(busyWithoutCall);
  recover();
  expect(await list(1, account, "source=LinkedIn")).toEqual(listed);
});

test("lists that fail at once do not prolong the backoff", async () => {
  const account = randomUUID();
  throttle();
  await list(0, account);
  recover();
  for (let i = 1; i < 100; i++) expect(await list(1, account)).toEqual(busyWithoutCall);
  expect(await list(1, account)).toEqual(listed);
});

test("a list that succeeds ends the backoff: the next one begins as short as the first", async () => {
  const account = randomUUID();
  throttle();
  for (const after of [0, 100, 200, 400]) expect(await list(after, account)).toEqual(busy);
  recover();
  expect(await list(799, account)).toEqual(busyWithoutCall);
  expect(await list(1, account)).toEqual(listed);
  throttle();
  expect(await list(0, account)).toEqual(busy);
  expect(await list(99, account)).toEqual(busyWithoutCall);
  expect(await list(1, account)).toEqual(busy);
});

test("the jitter may shorten the backoff to nothing", async () => {
  const account = randomUUID();
  vi.spyOn(Math, "random").mockReturnValue(0);
  throttle();
  for (let i = 0; i < 5; i++) expect(await list(0, account)).toEqual(busy);
  recover();
  expect(await list(0, account)).toEqual(listed);
});

test("other filters, lists and accounts are not affected", async () => {
  const [account, other] = [randomUUID(), randomUUID()];
  throttle();
  await list(0, account, "status=new");
  recover();
  expect(await list(0, account, "status=new")).toEqual(busyWithoutCall);
  expect(await list(0, account, "status=new&page=2")).toEqual(busyWithoutCall);
  for (const query of ["", "status=booked", "source=new", "status=new&source=web"])
    expect(await list(0, account, query)).toEqual(listed);
  expect(await list(0, other, "status=new")).toEqual(listed);
  expect((await call("list-conversations", { account, query: "status=new" })).status).toBe(200);
  expect((await call("create-lead", { account, body: { name: "Ada" } })).status).toBe(201);
});

test("the conversations of a lead back off together, whatever else filters them", async () => {
  const account = randomUUID();
  const conversations = async (query: string) =>
    (await call("list-conversations", { account, query })).status;
  throttle();
  expect(await conversations("leadId=lead_1")).toBe(503);
  recover();
  expect(await conversations("leadId=lead_1&status=active")).toBe(503);
  expect(await conversations("leadId=lead_2")).toBe(200);
});

test("a list that fails at once is answered with 503 and Retry-After, and its cause is logged", async () => {
  const account = randomUUID();
  throttle();
  await list(0, account);
  const logged = vi.spyOn(console, "error").mockClear();
  const { status, headers, problem } = await call("list-leads", { account });
  expect([status, headers["retry-after"], problem.code]).toEqual([503, "1", "busy"]);
  expect(logged).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ code: "busy", cause: expect.objectContaining({ name: "TooExpensiveError" }) }),
  );
});

test("an error that is not the table's load causes no backoff", async () => {
  const account = randomUUID();
  table.before = () => {
    throw Object.assign(new Error("inside"), { name: "ValidationException" });
  };
  expect(await list(0, account)).toEqual([500, 2]);
  recover();
  expect(await list(0, account)).toEqual(listed);
});
