import { GetCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { writeLimit } from "../../lib/ops/changes/account-limits.ts";
import { rateLimiter } from "../../shared/domain/rate-limiter.ts";
import { table } from "../../shared/dynamodb/table-client.ts";
import { installMeter, metered } from "../support/meter.ts";

installMeter();

/** Early in a window, so that no test reaches the next one by accident. */
const now = Math.ceil(Date.now() / 60_000) * 60_000 + 1000;
let warn = vi.spyOn(console, "warn");
beforeEach(() => {
  vi.useFakeTimers({ now, toFake: ["Date"] });
  warn = vi.spyOn(console, "warn").mockImplementation(() => {});
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

type Take = ReturnType<typeof rateLimiter>;

/** Longer than any call takes on a busy machine, in milliseconds. */
const environment = (seconds = 60) => rateLimiter({ requests: 100, seconds }, 30_000);

/** Makes requests in all environments until they reject them. @returns how many were granted */
async function useUp(takes: readonly Take[], account: string): Promise<number> {
  for (let granted = 0; ; ) {
    const permits = await Promise.all(takes.map((take) => take(account)));
    const now = permits.filter((permit) => permit.granted).length;
    granted += now;
    if (now === 0) return granted;
  }
}

/** Lets no call read the limit of an account. */
function failReads() {
  const { send } = table;
  return vi
    .spyOn(table, "send")
    .mockImplementation(((command: object, ...rest: never[]) =>
      command instanceof GetCommand
        ? Promise.reject(new Error("ada@example.com"))
        : Reflect.apply(send, table, [command, ...rest])) as never);
}

test.each([
  ["above", 250],
  ["below", 30],
  ["far below", 1],
])("an account with a limit %s the stage's gets exactly it, from one environment or many", async (...args) => {
  const [place, requests] = args;
  for (const count of [1, 12]) {
    const account = `${place}-${count}`;
    await writeLimit({ account, requests });
    const takes = Array.from({ length: count }, () => environment());
    expect(await useUp(takes, account)).toBe(requests);
    expect(await takes[0]?.(account)).toEqual({ granted: false, requests, remaining: 0, reset: 59 });
    expect(await useUp([environment()], account)).toBe(0);
  }
});

test("another account keeps the limit of the stage", async () => {
  await writeLimit({ account: "large", requests: 250 });
  const take = environment();
  await take("large");
  expect(await useUp([take], "usual")).toBe(100);
});

test("the limit is read beside the first lease of a window, for half a unit, and not again", async () => {
  await writeLimit({ account: "cost", requests: 1000 });
  const take = environment();
  const first = await metered(async () => take("cost"));
  expect(first.result).toEqual({ granted: true, requests: 1000, remaining: 999, reset: 59 });
  expect(first.calls.map(({ write, read }) => [write, read]).sort()).toEqual([
    [0, 0.5],
    [1, 0],
  ]);
  const others = await metered(() => useUp([take], "cost"));
  expect(others.calls.filter(({ read }) => read > 0)).toEqual([]);
});

test("another limit applies in the next window", async () => {
  const take = environment();
  await take("changed");
  await writeLimit({ account: "changed", requests: 7 });
  expect((await take("changed")).requests).toBe(100);
  vi.setSystemTime(now + 60_000);
  expect(await useUp([take], "changed")).toBe(7);
  await writeLimit({ account: "changed", requests: null });
  vi.setSystemTime(now + 120_000);
  expect(await useUp([take], "changed")).toBe(100);
});

test("in a longer window, another limit applies after a minute, to a refused account too", async () => {
  vi.setSystemTime(Math.ceil(Date.now() / 3_600_000) * 3_600_000 + 1000);
  const start = Date.now();
  const take = environment(3600);
  expect(await useUp([take], "long")).toBe(100);
  await writeLimit({ account: "long", requests: 130 });
  vi.setSystemTime(start + 59_000);
  expect((await metered(() => useUp([take], "long"))).calls).toEqual([]);
  vi.setSystemTime(start + 60_000);
  expect(await useUp([take], "long")).toBe(30);
  await writeLimit({ account: "long", requests: 10 });
  vi.setSystemTime(start + 121_000);
  expect(await take("long")).toMatchObject({ granted: false, requests: 10, remaining: 0 });
});

test("while it cannot be read, the limit of the stage applies, and one line is logged", async () => {
  await writeLimit({ account: "unread", requests: 250 });
  const reads = failReads();
  const take = environment();
  expect(await useUp([take], "unread")).toBe(100);
  expect(warn.mock.calls).toEqual([
    [{ event: "account limit unknown", cause: expect.objectContaining({ name: "Error" }) }],
  ]);
  expect(JSON.stringify(warn.mock.calls)).not.toContain("ada@example.com");
  reads.mockRestore();
  vi.setSystemTime(now + 4999);
  expect(await useUp([take], "unread")).toBe(0);
  vi.setSystemTime(now + 5000);
  expect(await useUp([take], "unread")).toBe(150);
});

test("a limit that was read stays while it cannot be read again", async () => {
  vi.setSystemTime(Math.ceil(Date.now() / 3_600_000) * 3_600_000 + 1000);
  await writeLimit({ account: "kept", requests: 250 });
  const take = environment(3600);
  await take("kept");
  failReads();
  vi.setSystemTime(Date.now() + 61_000);
  expect(await useUp([take], "kept")).toBe(249);
});
