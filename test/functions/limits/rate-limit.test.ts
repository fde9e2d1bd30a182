import { beforeEach, describe, expect, test, vi } from "vitest";
import { rateLimiter } from "../../../shared/rate-limit/rate-limiter.ts";
import { sum } from "../../support/cases/statistics.ts";
import { VirtualTable } from "../../support/tables/virtual-table.ts";
import { useTable } from "../../support/tables/watched-table.ts";

/** Early in a window, in milliseconds since the epoch. */
const now = Date.UTC(2026, 0, 1, 0, 0, 1);

const table = useTable();

beforeEach(() => {
  vi.useFakeTimers({ now, toFake: ["Date"] });
  // On a busy machine, a slow call must not let a request pass.
  vi.spyOn(AbortSignal, "timeout").mockReturnValue(new AbortController().signal);
});

type Take = ReturnType<typeof rateLimiter>;

/** A limiter that shares only the table with others. */
const environment = (requests = 300): Take => rateLimiter(requests);

/** Makes requests in all environments until all are rejected. @returns how many were granted */
async function useUp(takes: readonly Take[], account: string, requests?: number): Promise<number> {
  for (let granted = 0, before = -1; ; ) {
    if (granted === before) return granted;
    before = granted;
    const permits = await Promise.all(takes.map((take) => take(account, requests)));
    granted += permits.filter((permit) => permit.granted).length;
  }
}

async function repeat(take: Take, account: string, times: number): Promise<void> {
  for (let n = 0; n < times; n++) expect((await take(account)).granted).toBe(true);
}

test.each([
  { limit: 300, own: undefined, count: 20 },
  { limit: 1, own: undefined, count: 1 },
  { limit: 100, own: 250, count: 12 },
  { limit: 100, own: 30, count: 12 },
  { limit: 100, own: 1, count: 12 },
])("an account gets exactly its limit in a window: $limit of the stage, or $own of its own, in $count environments", async ({
  limit,
  own,
  count,
}) => {
  const takes = Array.from({ length: count }, () => environment(limit));
  const requests = own ?? limit;
  expect(await useUp(takes, "acme", own)).toBe(requests);
  expect(await takes[0]?.("acme", own)).toEqual({ granted: false, requests, remaining: 0, reset: 59 });
  expect(await useUp([environment(limit)], "acme", own)).toBe(0);
});

test("the last requests are granted, even if fewer than a lease remain", async () => {
  const [late, other] = [environment(2000), environment(2000)];
  // Leases of 1, 2, 4 and 8, so that the next one asks for 10.
  await repeat(late, "acme", 15);
  let { remaining } = await other("acme");
  while (remaining > 3) ({ remaining } = await other("acme"));
  await repeat(late, "acme", 3);
  expect((await late("acme")).granted).toBe(false);
});

test.each([
  [100_000, [1, 2, 4, 8, 10, 10]],
  // At most two of each hundred requests that are left.
  [300, [1, 2, 4, 5, 5, 5]],
])("with a limit of %i requests, leases double up to a maximum", async (requests, leases) => {
  const { calls } = await table.watch(() => repeat(environment(requests), "busy", sum(leases)));
  expect(calls).toMatchObject(
    leases.map((count) => ({ input: { ExpressionAttributeValues: { ":count": count } } })),
  );
});

test("the time until the window ends is rounded up to whole seconds, and is never 0", async () => {
  const [start, take] = [now - 1000, environment()];
  for (const [time, reset] of [
    [0, 60],
    [1, 60],
    [1000, 59],
    [59_000, 1],
    [59_999, 1],
  ] as const) {
    vi.setSystemTime(start + time);
    expect((await take("cold")).reset).toBe(reset);
  }
  table.before = () => void vi.setSystemTime(start + 60_000);
  expect((await take("slow")).reset).toBe(1);
});

test("the usage record expires after the window", async () => {
  await environment()("acme");
  const start = (now - 1000) / 1000;
  expect([...table.memory.items()]).toEqual([
    { pk: "RATE#acme", sk: String(start), used: 1, expiresAt: start + 120 },
  ]);
});

describe("when the limit of an account changes in a window", () => {
  test("a higher limit grants what it adds, also to a refused account", async () => {
    const take = environment();
    expect(await useUp([take], "acme", 20)).toBe(20);
    expect(await useUp([take], "acme", 50)).toBe(30);
  });

  test("a lower limit grants what is leased already, and no more", async () => {
    const [take, other] = [environment(6000), environment(6000)];
    // Leases of 1, 2, 4 and 8.
    await repeat(take, "acme", 8);
    expect(await useUp([take], "acme", 10)).toBe(7);
    expect(await other("acme", 10)).toMatchObject({ granted: false, requests: 10, remaining: 0 });
  });

  test("keys with different limits get the higher one together, and no more", async () => {
    const take = environment();
    let granted = 0;
    for (let n = 0; n < 400; n++) if ((await take("acme", n % 2 === 0 ? 30 : 60)).granted) granted++;
    expect(granted).toBe(60);
  });
});

test("when the table fails, an account over its limit stays rejected", async () => {
  const take = environment(5);
  expect(await useUp([take], "known")).toBe(5);
  table.before = () => {
    throw new Error("down");
  };
  // Another key of the account has a higher limit.
  for (const granted of [take("unknown"), take("known", 6)]) expect((await granted).granted).toBe(true);
  expect((await take("known")).granted).toBe(false);
});

test("an environment remembers ten thousand accounts, and forgets them all when there are more", async () => {
  const take = environment(1);
  expect(await useUp([take], "first")).toBe(1);
  for (let n = 1; n < 10_000; n++) await take(`account-${n}`);
  const callsForFirst = async () => (await table.watch(() => take("first"))).calls.length;
  expect(await callsForFirst()).toBe(0);
  await take("another");
  expect(await callsForFirst()).toBe(1);
});

describe("while the table is slow", () => {
  test.each([
    // A lease that arrives after the first wait counts.
    { limit: 25, environments: 20, slow: 700, most: 25 },
    // Each environment lets one request pass, and pays for it with the leases that arrive later.
    { limit: 25, environments: 20, slow: 1500, most: 25 },
    { limit: 10, environments: 150, slow: 700, most: 10 },
    // At most one request for each environment.
    { limit: 10, environments: 20, slow: 1500, most: 20 },
  ])("$environments environments without a response for $slow ms grant at most $most of 150 requests, with a limit of $limit", async ({
    limit,
    environments,
    slow,
    most,
  }) => {
    new VirtualTable(now, () => Math.max(5, now + slow - Date.now()));
    let [granted, waiting] = [0, 150];
    // An environment serves one request at a time.
    const serve = async () => {
      const take = environment(limit);
      while (waiting-- > 0) if ((await take("acme")).granted) granted++;
    };
    const served = Promise.all(Array.from({ length: environments }, serve));
    await vi.advanceTimersByTimeAsync(58_000);
    await served;
    expect(granted).toBeLessThanOrEqual(most);
    // No permit is lost because its lease was late.
    expect(granted).toBeGreaterThanOrEqual(limit);
  });

  test.each([
    { takes: 700, waits: 700 },
    { takes: 1500, waits: 1000 },
  ])("a request waits $waits ms for a lease that takes $takes ms, and is granted", async ({
    takes,
    waits,
  }) => {
    new VirtualTable(now, () => takes);
    const taken = environment()("acme").then(({ granted }) => [granted, Date.now() - now]);
    await vi.advanceTimersByTimeAsync(3000);
    expect(await taken).toEqual([true, waits]);
  });
});
