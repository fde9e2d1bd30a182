import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { rateLimiter } from "../../shared/domain/rate-limiter.ts";
import { rateWindowKey } from "../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../shared/dynamodb/table-client.ts";
import { installMeter, metered, writeUnits } from "../support/meter.ts";

installMeter();
/** Early in a window, so that no test reaches the next one by accident. */
const now = Math.ceil(Date.now() / 60_000) * 60_000 + 1000;
beforeEach(() => {
  vi.useFakeTimers({ now, toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const limit = { requests: 300, seconds: 60 };

/** Longer than any call takes on a busy machine, in milliseconds. */
const timeout = 30_000;

/** The limiters of this many environments, which share nothing but the table. */
const environments = (count: number, settings = limit) =>
  Array.from({ length: count }, () => rateLimiter(settings, timeout));

/** Makes requests until all environments reject them. @returns how many were granted */
async function useUp(takes: readonly ReturnType<typeof rateLimiter>[], account: string): Promise<number> {
  let granted = 0;
  for (let round = 0; round < 10_000; round++) {
    const permits = await Promise.all(takes.map((take) => take(account)));
    const now = permits.filter((permit) => permit.granted).length;
    granted += now;
    if (now === 0) return granted;
  }
  throw new Error("The limit was not reached.");
}

/** Makes requests until at most this many remain. @returns how many do */
async function leaveLast(take: ReturnType<typeof rateLimiter>, account: string, last: number) {
  let { remaining } = await take(account);
  while (remaining > last) ({ remaining } = await take(account));
  return remaining;
}

describe("an account", () => {
  test("gets exactly its limit in a window, from one environment or many", async () => {
    expect(await useUp(environments(1), "one")).toBe(300);
    expect(await useUp(environments(20), "many")).toBe(300);
    expect(await useUp(environments(1, { requests: 1, seconds: 60 }), "single")).toBe(1);
  });

  test("gets its limit again in the next window", async () => {
    const takes = environments(3);
    expect(await useUp(takes, "windows")).toBe(300);
    vi.setSystemTime(now + 58_000);
    expect(await useUp(takes, "windows")).toBe(0);
    vi.setSystemTime(now + 59_000);
    expect(await useUp(takes, "windows")).toBe(300);
  });

  test("is not limited by another account", async () => {
    const takes = environments(2);
    await useUp(takes, "greedy");
    const take = takes[0] as ReturnType<typeof rateLimiter>;
    expect(await take("quiet")).toEqual({ granted: true, requests: 300, remaining: 299, reset: 59 });
    expect(await take("quiet")).toEqual({ granted: true, requests: 300, remaining: 298, reset: 59 });
    // The rest of a lease of two; then a lease of four, whose other three permits need no call.
    expect(await take("quiet")).toEqual({ granted: true, requests: 300, remaining: 297, reset: 59 });
    expect((await metered(async () => take("quiet"))).calls).toHaveLength(1);
    expect(
      (await metered(async () => [await take("quiet"), await take("quiet"), await take("quiet")])).calls,
    ).toEqual([]);
  });

  test("loses at most one permit to an idle environment when few remain", async () => {
    const [idle, busy] = environments(2, { requests: 60, seconds: 60 });
    for (let n = 0; n < 4; n++) expect((await idle?.("few"))?.granted).toBe(true);
    expect(await useUp(busy ? [busy] : [], "few")).toBeGreaterThanOrEqual(55);
  });

  test("is granted the last requests, even if fewer than a lease remain", async () => {
    const large = { requests: 2000, seconds: 60 };
    const [late, other] = [rateLimiter(large, timeout), rateLimiter(large, timeout)];
    // Leases of 1, 2, 4 and 8, so that the next one asks for 10.
    for (let n = 0; n < 15; n++) await late("last");
    expect(await leaveLast(other, "last", 3)).toBe(3);
    for (let n = 0; n < 3; n++) expect((await late("last")).granted).toBe(true);
    expect((await late("last")).granted).toBe(false);
  });

  test("over its limit causes no call until the window ends", async () => {
    const takes = environments(2);
    await useUp(takes, "refused");
    const { calls } = await metered(() => useUp(takes, "refused"));
    expect(calls).toEqual([]);
  });

  test("costs at most 0.2 writes a request when busy, and one for a single request", async () => {
    const busy = { requests: 3000, seconds: 60 };
    for (const count of [1, 10, 25]) {
      const takes = environments(count, busy);
      const { result: granted, calls } = await metered(() => useUp(takes, `busy-${count}`));
      // Rejected leases report no cost; there is one for each environment, its last.
      expect(granted).toBe(busy.requests);
      expect((writeUnits(calls) + count) / granted).toBeLessThanOrEqual(0.2);
      expect(writeUnits(calls)).toBeGreaterThan(granted / 11);
    }
    const { calls } = await metered(async () => rateLimiter(busy, timeout)("lone"));
    expect(calls.map(({ write, read }) => [write, read])).toEqual([[1, 0]]);
  });

  test("leaves a usage record that expires after the window", async () => {
    await rateLimiter(limit, timeout)("expiry");
    const start = Math.floor(now / 60_000) * 60;
    const { Attributes } = await table.send(
      new UpdateCommand({
        TableName: tableName,
        Key: rateWindowKey("expiry", start),
        UpdateExpression: "SET seen = :true",
        ExpressionAttributeValues: { ":true": true },
        ReturnValues: "ALL_NEW",
      }),
    );
    expect(Attributes).toMatchObject({ used: 1, expiresAt: start + 120 });
  });
});

describe("when the table", () => {
  test("fails, the limiter fails open, logs one line and calls the table again later", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const send = vi.spyOn(table, "send").mockRejectedValue(new Error("ada@example.com") as never);
    const take = rateLimiter(limit, timeout);
    for (let n = 0; n < 20; n++) expect((await take("open")).granted).toBe(true);
    expect(send).toHaveBeenCalledTimes(1);
    expect(warn.mock.calls).toMatchObject([
      [{ event: "rate limiter failed open", cause: { name: "Error" } }],
    ]);
    vi.setSystemTime(now + 6000);
    await take("open");
    expect(send).toHaveBeenCalledTimes(2);
    send.mockRestore();
    vi.setSystemTime(now + 50_000);
    expect(await useUp([take], "open")).toBe(300);
  });

  test("fails, an account over its limit stays rejected", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => {});
    const take = rateLimiter({ requests: 5, seconds: 60 }, timeout);
    expect(await useUp([take], "known")).toBe(5);
    vi.spyOn(table, "send").mockRejectedValue(new Error("down") as never);
    expect((await take("unknown")).granted).toBe(true);
    expect((await take("known")).granted).toBe(false);
  });

  test("does not respond, a request passes after a second, and each later one asks again", async () => {
    const send = vi.spyOn(table.config.requestHandler, "handle").mockReturnValue(new Promise(() => {}));
    const take = rateLimiter(limit);
    const start = performance.now();
    expect((await take("slow")).granted).toBe(true);
    expect(performance.now() - start).toBeGreaterThan(950);
    expect(send).toHaveBeenCalledTimes(2);
    await take("slow");
    expect(send).toHaveBeenCalledTimes(4);
  });

  test("fails for an account, others are counted", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => {});
    const { send } = table;
    vi.spyOn(table, "send").mockImplementation(((command: { input: object }) =>
      JSON.stringify(command.input).includes("RATE#broken")
        ? Promise.reject(new Error("down"))
        : Reflect.apply(send, table, [command])) as never);
    const take = rateLimiter(limit, timeout);
    for (let n = 0; n < 400; n++) expect((await take("broken")).granted).toBe(true);
    expect(await useUp([take], "sound")).toBe(300);
  });
});
