import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { rateLimiter } from "../../shared/domain/rate-limiter.ts";
import { rateWindowKey } from "../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../shared/dynamodb/table-client.ts";
import { installMeter, metered, writeUnits } from "../bench/pages/meter.ts";

installMeter();
/** Early in a window, so that tests do not run into the next. */
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
const patience = 30_000;

/** So many, each of which knows nothing of the others. */
const environments = (count: number, of = limit) =>
  Array.from({ length: count }, () => rateLimiter(of, patience));

/** Makes requests until all environments refuse them. @returns how many were granted */
async function useUp(takes: readonly ReturnType<typeof rateLimiter>[], account: string): Promise<number> {
  let granted = 0;
  for (let round = 0; round < 10_000; round++) {
    const permits = await Promise.all(takes.map((take) => take(account)));
    const now = permits.filter((permit) => permit.granted).length;
    granted += now;
    if (now === 0) return granted;
  }
  throw new Error("The limit was never reached.");
}

/** Makes requests until so many are left. @returns how many are */
async function leaveLast(take: ReturnType<typeof rateLimiter>, account: string, last: number) {
  let left = Number.POSITIVE_INFINITY;
  while (left > last) left = (await take(account)).remaining;
  return left;
}

describe("an account", () => {
  test("makes exactly as many requests in a window as it may, from one environment or many", async () => {
    expect(await useUp(environments(1), "one")).toBe(300);
    expect(await useUp(environments(20), "many")).toBe(300);
    expect(await useUp(environments(1, { requests: 1, seconds: 60 }), "single")).toBe(1);
  });

  test("may make as many again in the next window", async () => {
    const takes = environments(3);
    expect(await useUp(takes, "windows")).toBe(300);
    vi.setSystemTime(now + 58_000);
    expect(await useUp(takes, "windows")).toBe(0);
    vi.setSystemTime(now + 59_000);
    expect(await useUp(takes, "windows")).toBe(300);
  });

  test("is not held back by another", async () => {
    const takes = environments(2);
    await useUp(takes, "greedy");
    const take = takes[0] as ReturnType<typeof rateLimiter>;
    expect(await take("quiet")).toEqual({ granted: true, remaining: 299, reset: 59 });
    expect(await take("quiet")).toEqual({ granted: true, remaining: 298, reset: 59 });
    // One of a second lease of two, three of a third of four.
    expect(await take("quiet")).toEqual({ granted: true, remaining: 297, reset: 59 });
    expect((await metered(async () => take("quiet"))).calls).toHaveLength(1);
    expect(
      (await metered(async () => [await take("quiet"), await take("quiet"), await take("quiet")])).calls,
    ).toEqual([]);
  });

  test("loses to an idle environment at most one permit when few are left", async () => {
    const [idle, busy] = environments(2, { requests: 60, seconds: 60 });
    for (let n = 0; n < 4; n++) expect((await idle?.("few"))?.granted).toBe(true);
    expect(await useUp(busy ? [busy] : [], "few")).toBeGreaterThanOrEqual(55);
  });

  test("is granted the last requests, which are fewer than a lease", async () => {
    const large = { requests: 2000, seconds: 60 };
    const [late, other] = [rateLimiter(large, patience), rateLimiter(large, patience)];
    // Leases of 1, 2, 4 and 8, so that the next is to be of 10.
    for (let n = 0; n < 15; n++) await late("last");
    expect(await leaveLast(other, "last", 3)).toBe(3);
    for (let n = 0; n < 3; n++) expect((await late("last")).granted).toBe(true);
    expect((await late("last")).granted).toBe(false);
  });

  test("that is refused costs no call until the window ends", async () => {
    const takes = environments(2);
    await useUp(takes, "refused");
    const { calls } = await metered(() => useUp(takes, "refused"));
    expect(calls).toEqual([]);
  });

  test("that is busy costs at most 0.2 writes a request, one alone costs one", async () => {
    const busy = { requests: 3000, seconds: 60 };
    for (const count of [1, 10, 25]) {
      const takes = environments(count, busy);
      const { response: answer, calls } = await metered(() => useUp(takes, `busy-${count}`));
      // Leases that are refused tell no cost; each is the last one of an environment.
      expect(answer).toBe(busy.requests);
      expect((writeUnits(calls) + count) / answer).toBeLessThanOrEqual(0.2);
      expect(writeUnits(calls)).toBeGreaterThan(answer / 11);
    }
    const { calls } = await metered(async () => rateLimiter(busy, patience)("lone"));
    expect(calls).toMatchObject([{ write: 1, read: 0 }]);
  });

  test("leaves nothing behind: what it used expires after the window", async () => {
    await rateLimiter(limit, patience)("expiry");
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

describe("when the store", () => {
  test("fails, requests pass; it is asked again after a while, and one line is logged", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const send = vi.spyOn(table, "send").mockRejectedValue(new Error("ada@example.com") as never);
    const take = rateLimiter(limit, patience);
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

  test("fails, an account that was refused stays refused", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => {});
    const take = rateLimiter({ requests: 5, seconds: 60 }, patience);
    expect(await useUp([take], "known")).toBe(5);
    vi.spyOn(table, "send").mockRejectedValue(new Error("down") as never);
    expect((await take("unknown")).granted).toBe(true);
    expect((await take("known")).granted).toBe(false);
  });

  test("does not answer, requests pass after half a second", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => {});
    const send = vi
      .spyOn(table.config.requestHandler, "handle")
      .mockImplementation(
        (_, options: { abortSignal?: AbortSignal } = {}) =>
          new Promise((_, reject) =>
            options.abortSignal?.addEventListener("abort", () => reject(new Error())),
          ),
      );
    const began = performance.now();
    expect((await rateLimiter(limit)("slow")).granted).toBe(true);
    expect(performance.now() - began).toBeGreaterThan(450);
    expect(send).toHaveBeenCalledTimes(1);
  });
});
